"""How the daemon begins and ends: exactly one, private from the first moment, after a crash, without harm to others."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from cogvault.client import connect, runtime_folder
from cogvault.client.endpoint import ENDPOINT_FILE, endpoints, socket_path
from cogvault.errors import DaemonError
from tests.daemon.conftest import Ask, Cogvault, Start, wait_until


def test_of_ten_that_race_one_becomes_the_daemon(launch: Start, cogvault: Cogvault, folder: Path, ask: Ask) -> None:
    started = [launch() for _ in range(10)]
    wait_until(lambda: sum(one.poll() is None for one in started) == 1, "nine have given up")
    wait_until(lambda: cogvault("daemon", "--status").returncode == 0, "the one that is left answers")
    assert [one.returncode for one in started if one.poll() is not None] == [0] * 9
    assert len(ask(folder).cards()) == 3


def test_it_starts_after_it_was_killed(start: Start, folder: Path, runtime: Path, ask: Ask) -> None:
    start().kill()
    wait_until(lambda: connect(folder) is None, "nobody answers")
    assert socket_path(runtime).is_socket()
    start()
    assert len(ask(folder).cards()) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_nothing_is_left(start: Start, runtime: Path, number: int, folder: Path, ask: Ask) -> None:
    process = start()
    ask(folder).cards()
    process.send_signal(number)
    assert process.wait(30) == 0
    assert not socket_path(runtime).exists()


def test_stop_waits_until_it_has_ended(start: Start, cogvault: Cogvault, runtime: Path) -> None:
    process = start()
    told = cogvault("daemon", "--stop")
    assert (told.returncode, told.stdout) == (0, "the daemon has stopped\n")
    assert not socket_path(runtime).exists()
    assert process.wait(10) == 0


def test_status_and_stop_without_a_daemon(cogvault: Cogvault) -> None:
    assert cogvault("daemon", "--status").returncode == 1
    assert cogvault("daemon", "--status", "--json").stdout == '{\n  "status": "stopped"\n}\n'
    assert cogvault("daemon", "--stop").returncode == 0


def test_status_tells_version_vaults_models_memory_and_queue(
    start: Start, cogvault: Cogvault, folder: Path, ask: Ask
) -> None:
    process = start()
    ask(folder).cards()
    told = cogvault("daemon", "--status").stdout
    assert f"process {process.pid}" in told
    assert f"vault {folder}" in told
    assert "queue 0, models none" in told


def test_a_long_path_has_a_short_socket_that_both_sides_know(
    start: Start, tmp_path: Path, folder: Path, ask: Ask
) -> None:
    deep = tmp_path / ("d" * 75) / ("e" * 75)
    deep.parent.mkdir()
    environment = {**os.environ, "COGVAULT_RUNTIME_DIR": str(deep)}
    start(env={"COGVAULT_RUNTIME_DIR": str(deep)})
    assert len(str(socket_path(deep))) < 104
    assert len(ask(folder, environment=environment).cards()) == 3


def test_only_this_user_can_ask_from_the_first_moment(launch: Start, runtime: Path) -> None:
    """umask 000 would make the socket open to all, were it not for the mode it is bound with."""
    path = socket_path(runtime)
    process = launch(umask=0)
    seen: set[tuple[int, int]] = set()

    def look() -> bool:
        with suppress(FileNotFoundError):
            seen.add((stat.S_IMODE(runtime.stat().st_mode), stat.S_IMODE(path.stat().st_mode)))
        assert process.poll() is None
        return bool(endpoints()) and _answers(path)

    wait_until(look, "it answers")
    assert seen == {(0o700, 0o600)}


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def test_stop_touches_no_process_by_its_number(cogvault: Cogvault, runtime: Path, start: Start) -> None:
    innocent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        runtime.mkdir(mode=0o700)
        for name in ("daemon.pid", "daemon.lock"):
            (runtime / name).write_text(f"{innocent.pid}\n")
        (runtime / ENDPOINT_FILE).write_text(f'{{"host": "127.0.0.1", "port": 9, "token": "x", "pid": {innocent.pid}}}')
        assert cogvault("daemon", "--stop").returncode == 0
        start()
        assert cogvault("daemon", "--stop").returncode == 0
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_what_is_not_its_socket_is_never_removed(cogvault: Cogvault, runtime: Path, tmp_path: Path, what: str) -> None:
    runtime.mkdir(mode=0o700)
    place = socket_path(runtime)
    if what == "file":
        place.write_text("mine")
    elif what == "folder":
        place.mkdir()
    else:
        (tmp_path / "target").write_text("mine")
        place.symlink_to(tmp_path / "target")
    told = cogvault("daemon")
    assert told.returncode == 3
    assert "in the way" in told.stderr
    assert os.path.lexists(place)


def test_a_socket_that_another_put_in_its_place_stays(start: Start, runtime: Path) -> None:
    process = start()
    place = socket_path(runtime)
    place.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(place))
        process.terminate()
        process.wait(30)
        assert place.is_socket()


def test_a_folder_that_is_open_to_others_is_refused(cogvault: Cogvault, runtime: Path, folder: Path) -> None:
    runtime.mkdir()
    runtime.chmod(0o755)
    told = cogvault("daemon")
    assert told.returncode == 3
    assert "open to other users" in told.stderr
    with socket.socket(socket.AF_UNIX) as listener:  # another user could have put it there
        listener.bind(str(socket_path(runtime)))
        listener.listen()
        assert connect(folder) is None


def test_a_runtime_folder_that_is_a_link_is_refused(cogvault: Cogvault, runtime: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    runtime.symlink_to(tmp_path / "elsewhere")
    assert cogvault("daemon").returncode == 3


def test_the_runtime_folder_is_known_without_any_variable() -> None:
    assert runtime_folder({"XDG_RUNTIME_DIR": "/run/user/7"}) == Path("/run/user/7/cogvault")
    assert runtime_folder({}).parent == Path(tempfile.gettempdir())
    assert runtime_folder({"XDG_RUNTIME_DIR": "run"}) == runtime_folder({"XDG_RUNTIME_DIR": ""}) == runtime_folder({})
    with pytest.raises(DaemonError, match="no such home folder"):
        runtime_folder({"COGVAULT_RUNTIME_DIR": "~nobody-of-this-name/run"})


@pytest.mark.parametrize("text", ["{}", '{"host": "127.0.0.1", "port": 9, "token": "a\\nb"}'])
def test_a_damaged_endpoint_file_is_told(runtime: Path, environment: object, text: str) -> None:
    runtime.mkdir(mode=0o700)
    (runtime / ENDPOINT_FILE).write_text(text)
    with pytest.raises(DaemonError, match="not the endpoint of a daemon"):
        endpoints()


def test_systemd_accepts_the_unit(cogvault: Cogvault, tmp_path: Path) -> None:
    unit = tmp_path / "cogvault.service"
    unit.write_text(cogvault("daemon", "--print-unit", "systemd").stdout)
    assert "ExecStart=" in unit.read_text()
    if (verify := shutil.which("systemd-analyze")) is not None:
        checked = subprocess.run([verify, "verify", "--user", str(unit)], capture_output=True, text=True, timeout=60)
        assert "cogvault.service" not in checked.stderr


def test_launchd_gets_a_property_list(cogvault: Cogvault) -> None:
    told = plistlib.loads(cogvault("daemon", "--print-unit", "launchd").stdout.encode())
    assert told["ProgramArguments"][1:] == ["daemon"]
    assert Path(told["ProgramArguments"][0]).name == "cogvault"


def test_a_unit_is_in_the_json_document_too(cogvault: Cogvault) -> None:
    told = json.loads(cogvault("daemon", "--print-unit", "systemd", "--json").stdout)
    assert told["unit"] == cogvault("daemon", "--print-unit", "systemd").stdout


def test_a_daemon_that_does_not_answer_is_told_in_time(cogvault: Cogvault, runtime: Path) -> None:
    runtime.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(socket_path(runtime)))
        deaf.listen()
        done = cogvault("daemon", "--status")
    assert done.returncode == 3
    assert "gave no answer" in done.stderr


def test_an_address_that_others_can_reach_is_refused(cogvault: Cogvault) -> None:
    assert cogvault("daemon", "--tcp", "0.0.0.0:0").returncode == 3
    assert cogvault("daemon", "--tcp", "nonsense").returncode == 2


def test_over_tcp_a_token_is_needed(start: Start, runtime: Path, folder: Path, ask: Ask) -> None:
    start("--tcp", "127.0.0.1:0")
    assert stat.S_IMODE((runtime / ENDPOINT_FILE).stat().st_mode) == 0o600
    [endpoint] = endpoints()
    assert len(ask(folder).cards()) == 3
    for token in ("", "wrong"):
        with pytest.raises(DaemonError, match="token"):
            connect(folder, endpoint=endpoint._replace(token=token))


def test_a_second_one_leaves_the_first_alone_when_the_lock_was_removed(
    start: Start, launch: Start, runtime: Path, folder: Path, ask: Ask
) -> None:
    process = start()
    (runtime / "daemon.lock").unlink()
    second = launch()
    assert second.wait(30) == 0
    assert process.poll() is None
    assert len(ask(folder).cards()) == 3


_SERVE = """
from pathlib import Path
from cogvault.client.endpoint import ENDPOINT_FILE, socket_path
from cogvault.errors import DaemonError
from cogvault_cli.daemon.place import Place
from cogvault_cli.daemon.serve import listen_tcp, listen_unix, one_daemon, run
import sys
try:
    with one_daemon() as folder:
        if sys.argv[1] == "unix":
            with listen_unix(folder) as listener:
                run(listener, Place.of(socket_path(folder)), check_seconds=0)
        else:
            with listen_tcp(folder, "127.0.0.1", 0) as (listener, token):
                run(listener, Place.of(folder / ENDPOINT_FILE), token, check_seconds=0)
except DaemonError as error:
    print(error.path)
"""


def _serves(folder: Path) -> bool:
    vault = connect(folder)
    if vault is not None:
        vault.close()
    return vault is not None


@pytest.mark.parametrize("kind", ["unix", "tcp"])
@pytest.mark.parametrize("deed", ["removed", "replaced", "moved"])
def test_one_that_nobody_finds_any_more_ends(
    environment: Mapping[str, str], runtime: Path, tmp_path: Path, folder: Path, kind: str, deed: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, kind],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    wait_until(lambda: _serves(folder), "it answers")
    place = runtime / ("daemon.sock" if kind == "unix" else ENDPOINT_FILE)
    if deed == "moved":
        runtime.rename(tmp_path / "elsewhere")
    elif deed == "removed":
        place.unlink()
    else:
        other = tmp_path / "other"
        other.write_text("another's")
        other.replace(place)
    told, _ = process.communicate(timeout=30)
    assert told.strip() == str(place)
    assert place.exists() == (deed == "replaced")


def test_a_wrong_address_is_told_whether_or_not_one_runs(start: Start, cogvault: Cogvault) -> None:
    start()
    assert cogvault("daemon", "--tcp", "127.0.0.1:99999").returncode == 2
