"""Whatever is wrong, an agent goes on: exit code 0, nothing on standard output, a reason only when asked for."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cogvault_cli.hooks.event import EVENTS
from tests.hooks.conftest import World, line

BAD = {
    "nothing": b"",
    "half": b'{"session_id": "s", "prompt": "x',
    "a list": b"[1]",
    "no session": b"{}",
    "wrong types": b'{"session_id": ["s"], "prompt": 4}',
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 200_000,
    "a path as session": b'{"session_id": "../../x", "transcript_path": "/dev/null", "prompt": "job queue"}',
    "a surrogate": b'{"session_id": "\\ud800", "transcript_path": "/dev/null", "prompt": "\\ud800 job queue"}',
}


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_bad_input_is_answered_by_silence(name: str, data: bytes, world: World) -> None:
    assert world.hook(name, data=data) == ""


@pytest.mark.parametrize("name", EVENTS)
def test_reason_is_told_on_standard_error_when_asked_for(name: str, world: World) -> None:
    world.environ.pop("COGVAULT_TENANT")
    assert world.hook(name) == ""
    done = world.run(name, "--debug")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"cogvault hook: LookupError: no vault: set COGVAULT_TENANT to its folder\n"


@pytest.mark.parametrize("name", EVENTS)
def test_missing_vault_is_silence_and_is_not_made(name: str, world: World, tmp_path: Path) -> None:
    world.environ["COGVAULT_TENANT"] = str(tmp_path / "nowhere")
    world.say()
    assert world.hook(name) == ""
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["session-start", "prompt"])
def test_without_a_daemon_nothing_is_told(name: str, world: World) -> None:
    assert world.hook(name) == ""
    assert b"no daemon runs" in world.run(name, "--debug").stderr


@pytest.mark.parametrize(("stream", "options", "data"), [(1, (), None), (2, ("--debug",), b"{")])
def test_closed_streams_are_no_failure(
    served: World, stream: int, options: tuple[str, ...], data: bytes | None
) -> None:
    given = json.dumps(served.event("prompt")).encode() if data is None else data
    command = [sys.executable, "-m", "cogvault_cli", "hook", "prompt", *options]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}>&-', "sh", *command], input=given, capture_output=True, env=served.environ
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", ["session-start", "prompt"])
def test_daemon_that_never_answers_is_not_waited_for(name: str, world: World) -> None:
    with tempfile.TemporaryDirectory(prefix="cv-") as runtime:
        path = Path(runtime) / "daemon.sock"
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.bind(str(path))
            deaf.listen()
            world.environ["COGVAULT_RUNTIME_DIR"] = runtime
            assert world.hook(name) == ""
            assert b"no answer within 0.9 s" in world.run(name, "--debug").stderr


@pytest.mark.parametrize("name", ["pre-compact", "session-end"])
def test_missing_transcript_is_silence(name: str, world: World) -> None:
    assert world.hook(name) == ""
    assert world.hook(name, transcript_path="") == ""
    assert not (world.vault / "session").exists()


@pytest.mark.parametrize("name", ["pre-compact", "session-end"])
def test_endless_transcript_is_not_read(name: str, world: World) -> None:
    pipe = world.project / "pipe"
    os.mkfifo(pipe)
    for endless in ("/dev/zero", str(pipe)):
        assert world.hook(name, transcript_path=endless) == ""
        assert b"no regular file" in world.run(name, "--debug", transcript_path=endless).stderr


@pytest.mark.parametrize("name", EVENTS)
def test_endless_event_is_not_held(name: str, world: World) -> None:
    with Path("/dev/zero").open("rb") as endless:
        command = [sys.executable, "-m", "cogvault_cli", "hook", name, "--debug"]
        done = subprocess.run(
            command, stdin=endless, capture_output=True, env=world.environ, cwd=world.project, timeout=60
        )
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"cogvault hook: ValueError: the event has more than 16777216 bytes\n"


def test_unknown_event_is_a_usage_error(world: World) -> None:
    done = world.run("session-stop", data=b"{}")
    assert (done.returncode, done.stdout) == (2, b"")


def test_state_folder_that_cannot_be_written_is_told_to_the_user_once(world: World, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be\n")
    world.say(line("user", "u1", "Where does the job queue run?"))
    told = json.loads(world.hook("session-start"))
    assert told.keys() == {"systemMessage"}
    assert f"nothing can be written into {tmp_path / 'state' / 'hooks'}" in told["systemMessage"]
    for name in ("prompt", "pre-compact", "session-end"):
        assert world.hook(name) == ""
    (tmp_path / "state").unlink()
    assert world.hook("session-start") == ""
    assert not any((tmp_path / "state/hooks").iterdir())


def test_what_was_said_and_could_not_be_kept_is_told_until_it_is(world: World) -> None:
    world.say(line("user", "u1", "Where does the job queue run?"))
    (world.vault / ".cogvaultignore").write_text("session/\n")
    for _ in range(2):
        assert world.hook("session-end") == ""
        told = json.loads(world.hook("session-start"))["systemMessage"]
        assert "not kept yet: session/" in told
        assert "the place is ignored" in told
    (world.vault / ".cogvaultignore").unlink()
    assert world.hook("session-end") == ""
    assert world.hook("session-start") == ""
    assert "Where does the job queue run?" in next(world.vault.glob("session/*/timeline/*.md")).read_text()


def test_state_folder_that_cannot_be_written_keeps_no_memory_from_the_agent(served: World, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(exist_ok=True)
    (tmp_path / "state" / "hooks").write_text("a file where the folder should be\n")
    start = json.loads(served.hook("session-start"))
    assert "cogvault" in start["hookSpecificOutput"]["additionalContext"]
    assert "COGVAULT_STATE_DIR" in start["systemMessage"]
    for _ in range(2):
        assert "PostgreSQL table" in served.context("prompt")
