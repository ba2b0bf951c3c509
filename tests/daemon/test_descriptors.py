"""A daemon that has no free descriptor: it says so, uses no disk and no processor for it, and goes on when it has."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from cogvault.client.endpoint import socket_path
from cogvault.serving import AcceptFaults
from tests.daemon.conftest import Ask, Cogvault, Start, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of another process can be set on Linux only")


def test_it_says_so_once_and_takes_who_waited_when_there_are_some(
    start: Start, cogvault: Cogvault, folder: Path, runtime: Path, ask: Ask
) -> None:
    import resource

    process = start()
    vault = ask(folder)
    vault.close()
    used = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used + 10, used + 10))
    assert process.stdout is not None
    said: list[str] = []
    threading.Thread(target=lambda: said.extend(process.stdout or ()), daemon=True).start()
    with ExitStack() as held:
        for _ in range(60):
            waiting = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            waiting.connect(str(socket_path(runtime)))
        wait_until(lambda: any("no more connections" in line for line in said), "it says that it has none")
        spent = Path(f"/proc/{process.pid}/stat").read_text().split()[13:15]
        threading.Event().wait(2.5)  # in which the loop tries it twice more
        again = Path(f"/proc/{process.pid}/stat").read_text().split()[13:15]
    assert sum(map(int, again)) - sum(map(int, spent)) < 100  # hundredths of a second
    wait_until(lambda: cogvault("daemon", "--status").returncode == 0, "it takes connections again")
    assert len(ask(folder).cards()) == 3
    assert len([line for line in said if "no more connections" in line]) == 1
    assert sum(map(len, said)) < 5_000


def test_what_cannot_be_accepted_is_said_once_a_minute_and_anything_else_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now, usual = [0.0], []

    class Loop(asyncio.SelectorEventLoop):
        def default_exception_handler(self, context: dict[str, object]) -> None:
            usual.append(context["message"])

    loop = Loop()
    loop.set_exception_handler(AcceptFaults(lambda: now[0]))
    full = {"message": "socket.accept() out of system resource", "exception": OSError(errno.EMFILE, "no more of them")}
    for now[0] in (0.0, 1.0, 59.0, 60.0, 61.0):
        loop.call_exception_handler(full)
    assert [record.getMessage() for record in caplog.records if "no more of them" in record.getMessage()] == [
        "no more connections can be taken: [Errno 24] no more of them; "
        "they wait until some are free; raise the limit (ulimit -n)"
    ] * 2
    for other in ({"message": "a task failed", "exception": OSError(errno.EMFILE, "")}, {"message": "no error at all"}):
        loop.call_exception_handler(other)
    assert usual == ["a task failed", "no error at all"]
    loop.close()
