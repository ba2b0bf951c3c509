"""A daemon as a process of its own, as its users start it; and its application inside the test's process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import uvicorn

from cogvault.client import Endpoint, RemoteVault, connect
from cogvault_cli.daemon.app import create_app
from cogvault_cli.daemon.house import House
from cogvault_cli.daemon.protocol import configuration
from cogvault_cli.daemon.serve import listen_unix

Cogvault: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Ask: TypeAlias = Callable[..., RemoteVault]
Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]

CARDS = {
    "project_queue.md": "---\ntitle: Jobs in PostgreSQL\ntype: project\ntags: [queue]\ncreated: 2026-01-20\n---\n\n"
    "# Jobs in PostgreSQL\n\nThe job queue moved from Redis into a table. See [[reference_flags]].\n",
    "reference_flags.md": "---\ntitle: Compiler flags\ntype: reference\n---\n\n"
    "We build with -Werror and nothing else.\n",
    "user_ana.md": "---\ntitle: Ana\ntype: user\nteam: harbor\n---\n\nAna likes tea and 设备清单.\n",
}


def wait_until(holds: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Wait for a condition; the bound is only there so that a broken test ends."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"did not happen within {seconds:.0f} s: {what}")
        time.sleep(0.02)


def write_cards(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in CARDS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder.resolve()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A vault of three cards."""
    return write_cards(tmp_path / "vault")


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Where the daemon of this test listens."""
    return tmp_path / "run"


@pytest.fixture
def environment(tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Variables of this test's daemon and clients, which are those of this process too."""
    own = {"COGVAULT_MODEL": "none", "COGVAULT_INDEX_DIR": str(tmp_path / "indexes")}
    for name, value in {**own, "COGVAULT_RUNTIME_DIR": str(runtime)}.items():
        monkeypatch.setenv(name, value)
    return dict(os.environ)


@pytest.fixture
def cogvault(environment: Mapping[str, str]) -> Cogvault:
    """Run ``cogvault`` with these arguments as a process, to its end."""

    def call(*args: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cogvault_cli", *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, env={**environment, **(env or {})}, timeout=90)

    return call


@pytest.fixture
def launch(environment: Mapping[str, str]) -> Iterator[Start]:
    """Start ``cogvault daemon`` and do not wait for anything; it ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def call(*args: str, env: Mapping[str, str] | None = None, umask: int = 0o022) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "cogvault_cli", "daemon", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**environment, **(env or {})},
            umask=umask,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture
def start(launch: Start, cogvault: Cogvault) -> Start:
    """Start ``cogvault daemon`` and wait until it answers."""

    def call(*args: str, env: Mapping[str, str] | None = None, umask: int = 0o022) -> subprocess.Popen[str]:
        process = launch(*args, env=env, umask=umask)

        def answers() -> bool:
            if process.poll() is not None:
                pytest.fail(f"the daemon ended with {process.returncode}: {process.communicate()[0]}")
            return cogvault("daemon", "--status", env=env).returncode == 0

        wait_until(answers, "the daemon answers")
        return process

    return call


@pytest.fixture
def ask() -> Iterator[Callable[..., RemoteVault]]:
    """The vault of a folder as a daemon serves it, which has looked at its files; closed with the test."""
    opened: list[RemoteVault] = []

    def call(folder: Path, **options: Any) -> RemoteVault:
        vault = connect(folder, **options)
        assert vault is not None
        opened.append(vault)
        vault.sync()
        return vault

    yield call
    for vault in opened:
        vault.close()


@contextmanager
def serving(house: House, place: Path, *, token: str = "", max_queue: int = 256) -> Iterator[Endpoint]:
    """Serve a house from a thread of this process."""
    server: uvicorn.Server
    app = create_app(house, lambda: setattr(server, "should_exit", True), token, max_queue)
    with listen_unix(place) as listener:
        server = uvicorn.Server(configuration(app))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        wait_until(lambda: server.started, "the server has started")
        try:
            yield Endpoint(socket=listener.getsockname(), token=token)
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture
def house(environment: Mapping[str, str]) -> Iterator[House]:
    with House() as house:
        yield house


@pytest.fixture
def endpoint(house: House, runtime: Path) -> Iterator[Endpoint]:
    """Way to a daemon that runs in this process."""
    with serving(house, runtime) as endpoint:
        yield endpoint
