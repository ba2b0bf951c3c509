"""Start exactly one daemon, listen where only this user can ask, and leave nothing behind."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from cogvault.client.endpoint import ENDPOINT_FILE, is_private, runtime_folder, socket_path
from cogvault.errors import DaemonError
from cogvault.serving import serve
from cogvault_cli.daemon.place import Place, clear

__all__ = ["AlreadyRunning", "listen_tcp", "listen_unix", "one_daemon", "run", "wait_for_end"]

_LOCK = "daemon.lock"
# So long the calls that run may take to end once the daemon was stopped.
GRACE_SECONDS = 30
_CHECK_SECONDS = 30


class AlreadyRunning(DaemonError):
    """Another daemon of this user runs; that is no failure."""


@contextmanager
def one_daemon() -> Iterator[Path]:
    """Hold the right to be this user's daemon; the operating system takes it back when the process dies.

    Yields:
        The runtime folder.

    Raises:
        AlreadyRunning: another process has it.
        DaemonError: the runtime folder cannot be made, or is not private.
    """
    folder = _private(runtime_folder())
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise AlreadyRunning("a daemon runs already", path=folder, hint="cogvault daemon --status") from None
    try:
        yield folder
    finally:
        lock.release()


@contextmanager
def listen_unix(folder: Path) -> Iterator[socket.socket]:
    """A Unix socket that only this user can connect to, from its first moment; removed at the end if still ours.

    Raises:
        AlreadyRunning: another process listens there.
        DaemonError: something that is no socket is in its place.
    """
    path = socket_path(folder)
    _private(path.parent)
    if not clear(path):
        raise AlreadyRunning("a daemon runs already", path=path, hint="cogvault daemon --status")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # the mode of the socket from the moment of bind
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise DaemonError(f"cannot listen: {error.strerror}", path=path, hint="set COGVAULT_RUNTIME_DIR") from error
    finally:
        os.umask(before)
    place = Place.of(path)
    try:
        yield listener
    finally:
        listener.close()
        place.remove()


@contextmanager
def listen_tcp(folder: Path, host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """A loopback port, and the token that requests have to bear; clients of this user find both in a private file.

    Raises:
        DaemonError: the address is not loopback, or cannot be had.
    """
    if host not in ("127.0.0.1", "::1", "localhost"):
        raise DaemonError(f"not a loopback address: {host}", hint="listen on 127.0.0.1")
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise DaemonError(f"cannot listen on {host}:{port}: {error.strerror}", hint="choose another port") from error
    token = secrets.token_urlsafe(32)
    file = folder / ENDPOINT_FILE
    made = folder / f"{ENDPOINT_FILE}.{os.getpid()}"
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump({"host": host, "port": listener.getsockname()[1], "token": token, "pid": os.getpid()}, out)
    made.replace(file)
    place = Place.of(file)
    try:
        yield listener, token
    finally:
        listener.close()
        place.remove()


def run(listener: socket.socket, place: Place, token: str = "", *, check_seconds: int = _CHECK_SECONDS) -> None:
    """Serve until stopped or signaled; calls that run are finished first.

    Args:
        listener: where requests come.
        place: the file by which clients find it.
        token: that requests have to bear; "" = none.
        check_seconds: how often it is looked whether they still can.

    Raises:
        DaemonError: they could not any more, and it ended.
    """
    import uvicorn

    from cogvault_cli.daemon.app import create_app
    from cogvault_cli.daemon.house import House
    from cogvault_cli.daemon.protocol import configuration

    server: uvicorn.Server

    def stop() -> None:
        server.should_exit = True

    async def check() -> None:
        server.should_exit = server.should_exit or not place.is_ours()

    with _ignored_signals(), House() as house:
        config = configuration(create_app(house, stop, token), grace_seconds=GRACE_SECONDS)
        config.callback_notify, config.timeout_notify = check, check_seconds
        server = uvicorn.Server(config)
        serve(server.serve(sockets=[listener]))
    if not place.is_ours():
        raise DaemonError(
            "the daemon ended: this was removed or replaced, so that nobody found it", path=place.path, hint="start it"
        )


def wait_for_end(folder: Path) -> bool:
    """Wait until this user's daemon has gone; False when it takes too long."""
    try:
        with FileLock(folder / _LOCK, timeout=GRACE_SECONDS + 5):
            return True
    except Timeout:
        return False


@contextmanager
def _ignored_signals() -> Iterator[None]:
    """The server ends by these signals and then raises them again, which must not end the process before its time."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _private(folder: Path) -> Path:
    """The folder, made for this user only."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DaemonError(f"the runtime folder cannot be made: {error.strerror}", path=folder) from error
    if not is_private(folder):
        hint = f"chmod 700 {folder}, or set COGVAULT_RUNTIME_DIR to a folder of your own"
        raise DaemonError("the runtime folder is open to other users", path=folder, hint=hint)
    return folder
