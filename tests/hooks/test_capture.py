"""What was said is kept: verbatim, in order, each turn exactly once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from cogvault import Config, Turn, Vault
from cogvault.errors import CardError
from cogvault_cli.hooks import capture as capturing
from cogvault_cli.hooks.capture import capture
from cogvault_cli.hooks.event import Event
from cogvault_cli.hooks.state import MAX_AGE_DAYS, StateFile, prune
from tests.hooks.conftest import SESSION, World, line


def kept(world: World, session: str = SESSION) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.environ.items():
            patch.setenv(name, value)
        with Vault(world.vault) as vault:
            return [str(turn.meta["uuid"]) for turn in vault.session(session).turns()]


def dialogue(first: int, count: int) -> list[dict[str, object]]:
    return [line("user" if n % 2 else "assistant", f"u{n}", f"Turn {n}") for n in range(first, first + count)]


def test_new_turns_are_kept_once_whatever_comes_again(world: World) -> None:
    world.say(*dialogue(0, 3))
    world.hook("pre-compact")
    world.hook("pre-compact")
    assert kept(world) == ["u0", "u1", "u2"]
    world.say(*dialogue(3, 2))
    world.hook("session-end")
    world.hook("session-end")
    assert kept(world) == ["u0", "u1", "u2", "u3", "u4"]


def test_message_that_a_transcript_has_twice_is_kept_once(world: World) -> None:
    world.say(*dialogue(0, 3), *dialogue(1, 3))
    world.hook("session-end")
    assert kept(world) == ["u0", "u1", "u2", "u3"]


def test_daemon_keeps_them_as_well(served: World) -> None:
    served.say(*dialogue(0, 3))
    served.hook("pre-compact")
    served.say(*dialogue(3, 1))
    served.hook("session-end")
    served.hook("session-end")
    assert kept(served) == ["u0", "u1", "u2", "u3"]


def test_daemon_that_never_answers_loses_nothing(world: World) -> None:
    world.say(*dialogue(0, 2))
    with tempfile.TemporaryDirectory(prefix="cv-") as runtime, socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(Path(runtime) / "daemon.sock"))
        deaf.listen()
        world.environ["COGVAULT_RUNTIME_DIR"] = runtime
        world.hook("session-end")
    assert kept(world) == ["u0", "u1"]


def test_text_is_verbatim_but_for_secrets(world: World) -> None:
    text = "# Not a heading\n\n**Ana**: not a turn\n```\nopen fence \u2028 \udcff"
    world.say(line("user", "1", text), line("user", "2", "the key is ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789 ok"))
    world.hook("session-end")
    with Vault(world.vault) as vault:
        first, second = vault.session(SESSION).turns()
    assert (first.speaker, first.text) == ("User", text)
    assert second.text == "the key is (redacted GitHub Token) ok"
    assert not any("ghp_" in path.read_text(encoding="utf-8") for path in world.vault.rglob("*.md"))


def test_turn_that_is_larger_than_a_card_may_be_is_kept_in_several(world: World) -> None:
    (world.vault / ".cogvault.toml").write_text("max_card_bytes = 50000\n")
    long = " ".join(f"word{number}" for number in range(12_000))
    world.say(line("user", "u0", "Short."), line("assistant", "u1", long), line("user", "u2", "Short as well."))
    world.hook("pre-compact")
    anchors = kept(world)
    assert (anchors[0], anchors[1], anchors[-1]) == ("u0", "u1", "u2")
    assert len(anchors) > 4
    text = "".join(file.read_text(encoding="utf-8") for file in (world.vault / "session").rglob("*.md"))
    assert all(f"word{number}" in text for number in (0, 5999, 11_999))


@pytest.mark.parametrize("length", [400, 2000, 5003])
def test_line_that_is_too_long_is_left_out_and_never_held(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr(capturing, "MAX_LINE_BYTES", 1000)
    long = json.dumps(line("user", "u1", "x"))
    long = long.replace('"x"', f'"{"x" * (length + 1 - len(long))}"')
    world.say(*dialogue(0, 1))
    with world.transcript.open("a", encoding="utf-8") as file:
        file.write(f"{long}\n")
    world.say(*dialogue(2, 1))
    with world.transcript.open("a", encoding="utf-8") as file:
        file.write("y" * 1000)  # goes on
    event = Event("pre-compact", SESSION, transcript=str(world.transcript))
    state = StateFile(tmp_path / "hooks", world.vault, SESSION, "capture")
    with Vault(world.vault, Config(model="none", index_dir=tmp_path / "i", state_dir=tmp_path / "s")) as vault:
        capture(event, vault, state)
        assert [turn.meta["uuid"] for turn in vault.session(SESSION).turns()] == (
            ["u0", "u1", "u2"] if length < 1000 else ["u0", "u2"]
        )
        assert state.read()["offset"] == world.transcript.stat().st_size - 1000


def test_line_that_is_being_written_waits_for_its_end(world: World) -> None:
    world.say(*dialogue(0, 1))
    half = json.dumps(line("user", "u1", "Turn 1"))
    with world.transcript.open("a", encoding="utf-8") as file:
        file.write(half[:40])
    world.hook("pre-compact")
    assert kept(world) == ["u0"]
    with world.transcript.open("a", encoding="utf-8") as file:
        file.write(f"{half[40:]}\n")
    world.hook("pre-compact")
    assert kept(world) == ["u0", "u1"]


@pytest.mark.parametrize("count", [1, 3, 9])
def test_another_transcript_of_the_session_is_kept_from_its_beginning(world: World, count: int) -> None:
    world.say(*dialogue(10, 3))
    world.hook("pre-compact")
    world.transcript.unlink()
    world.say(*dialogue(12, count))
    world.hook("session-end")
    assert kept(world) == ["u10", "u11", *(f"u{number}" for number in range(12, 12 + count))]


@pytest.mark.parametrize("damage", ["removed", "no JSON", "behind the end", "wrong types"])
def test_lost_state_doubles_nothing(damage: str, world: World) -> None:
    world.say(*dialogue(0, 3))
    world.hook("pre-compact")
    (state,) = (Path(world.environ["COGVAULT_STATE_DIR"]) / "hooks").glob("*.capture.json")
    if damage == "removed":
        state.unlink()
    else:
        texts = {"no JSON": "{", "behind the end": '{"offset": 10000000, "pending": false}'}
        state.write_text(texts.get(damage, '{"offset": "7", "pending": 0}'))
    world.say(*dialogue(3, 1))
    world.hook("pre-compact")
    assert kept(world) == ["u0", "u1", "u2", "u3"]


def test_turn_that_people_removed_stays_removed(world: World) -> None:
    world.say(*dialogue(0, 3))
    world.hook("pre-compact")
    (file,) = (world.vault / "session").rglob("*.md")
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index("**User**")] + text[text.rindex("**Claude**") :], encoding="utf-8")
    world.say(*dialogue(3, 1))
    world.hook("pre-compact")
    assert kept(world) == ["u0", "u2", "u3"]


class Dying:
    """A session that dies after so many turns of a batch."""

    def __init__(self, vault: Vault, after: int) -> None:
        self.path = vault.path
        self._session = vault.session(SESSION)
        self._after = after

    def session(self, name: str) -> Dying:
        return self

    def turns(self) -> list[Turn]:
        return self._session.turns()

    def append_many(self, turns: Iterable[Turn]) -> None:
        self._session.append_many(list(turns)[: self._after])
        raise CardError("the disk is full")


@pytest.mark.parametrize("after", [0, 1, 4])
def test_failure_in_the_middle_is_gone_on_from_there(after: int, world: World, tmp_path: Path) -> None:
    world.say(*dialogue(0, 4))
    event = Event("session-end", SESSION, transcript=str(world.transcript))
    state = StateFile(tmp_path / "hooks", world.vault, SESSION, "capture")
    with Vault(world.vault) as vault:
        with pytest.raises(CardError):
            capture(event, Dying(vault, after), state)  # type: ignore[arg-type]  # stands for a vault
        assert capture(event, vault, state) == 4 - after
        assert capture(event, vault, state) == 0
    assert kept(world) == ["u0", "u1", "u2", "u3"]


def workers(world: World) -> list[psutil.Process]:
    """Hooks of this world that go on by themselves."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(world.project) and "hook" in process.cmdline() and process.ppid() == 1:
                found.append(process)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_agent_that_ends_and_stops_its_hooks_loses_nothing(world: World) -> None:
    world.say(*dialogue(0, 3))
    command = [sys.executable, "-m", "cogvault_cli", "hook", "session-end"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, env=world.environ, cwd=world.project, start_new_session=True
    )
    end = time.monotonic() + 60
    while not workers(world):
        assert time.monotonic() < end
    os.killpg(process.pid, signal.SIGKILL)
    assert process.stdin is not None
    process.stdin.write(json.dumps(world.event("session-end")).encode())
    process.stdin.close()
    process.wait()
    while workers(world):
        assert time.monotonic() < end
    assert kept(world) == ["u0", "u1", "u2"]


def test_kills_at_any_moment_lose_and_double_nothing(world: World) -> None:
    event = json.dumps(world.event("session-end")).encode()
    command = [sys.executable, "-m", "cogvault_cli", "hook", "session-end"]
    for number in range(8):
        world.say(*dialogue(number * 50, 50))
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=world.environ, cwd=world.project)
        assert process.stdin is not None
        process.stdin.write(event)
        process.stdin.close()
        time.sleep(0.1 + number * 0.1)  # where it is by then does not matter
        for one in [*workers(world), psutil.Process(process.pid)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait()
    world.hook("session-end")
    assert kept(world) == [f"u{number}" for number in range(400)]


def test_events_at_once_keep_each_turn_once(world: World) -> None:
    world.say(*dialogue(0, 30))
    event = json.dumps(world.event("session-end")).encode()
    command = [sys.executable, "-m", "cogvault_cli", "hook", "session-end"]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, env=world.environ, cwd=world.project) for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(event)
        process.stdin.close()
    assert [process.wait(60) for process in processes] == [0] * 4
    assert kept(world) == [f"u{number}" for number in range(30)]


def test_old_state_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for path in (old, new):
        path.write_text("{}")
    before = time.time() - (MAX_AGE_DAYS + 1) * 86_400
    os.utime(old, (before, before))
    prune(tmp_path)
    prune(tmp_path / "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["new.json"]
