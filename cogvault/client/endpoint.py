"""Where the daemon listens: the same answer for both sides."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cogvault.errors import DaemonError

__all__ = ["ENDPOINT_FILE", "RUNTIME_VARIABLE", "Endpoint", "endpoints", "is_private", "runtime_folder", "socket_path"]

RUNTIME_VARIABLE = "COGVAULT_RUNTIME_DIR"
# Address of a daemon that listens on loopback TCP, and the token it wants.
ENDPOINT_FILE = "endpoint.json"
# sockaddr_un holds 104 bytes on macOS and 108 on Linux, with a closing zero.
_MAX_SOCKET_BYTES = 103
_WORD = re.compile(r"[!-~]+")


class Endpoint(NamedTuple):  # dataclasses take a hook longer to import than to ask
    """One way to a daemon: a Unix socket, or loopback TCP with a token."""

    socket: str = ""
    host: str = ""
    port: int = 0
    token: str = ""

    def __str__(self) -> str:
        return self.socket or f"http://{self.host}:{self.port}"

    def proof(self, challenge: str) -> str:
        """What shows that one has the token, without telling it."""
        import hmac

        return hmac.digest(self.token.encode(), challenge.encode(), "sha256").hex()


def runtime_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Folder of the daemon's socket, lock and endpoint file, for this user only. Not created here.

    ``COGVAULT_RUNTIME_DIR``, else ``cogvault`` in ``XDG_RUNTIME_DIR``, else ``cogvault-<user>`` in the temporary
    folder. A relative ``XDG_RUNTIME_DIR``, which would be another folder for each asker, does not count.

    Raises:
        DaemonError: the first begins with the home folder of nobody.
    """
    variables = os.environ if environment is None else environment
    if given := variables.get(RUNTIME_VARIABLE):
        try:
            return Path(given).expanduser()
        except RuntimeError as error:
            raise DaemonError("no such home folder", path=given, hint=f"correct {RUNTIME_VARIABLE}") from error
    if (base := Path(variables.get("XDG_RUNTIME_DIR", ""))).is_absolute():
        return base / "cogvault"
    return _temporary()


def socket_path(folder: Path) -> Path:
    """The Unix socket of a runtime folder; elsewhere, under a short name, when its path would be too long for one."""
    path = folder / "daemon.sock"
    if len(os.fsencode(path)) <= _MAX_SOCKET_BYTES:
        return path
    import hashlib

    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return _temporary(Path("/tmp")) / f"{digest}.sock"


def is_private(folder: Path) -> bool:
    """True for a real folder that is this user's and closed to all others."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    if os.name != "posix":
        return stat.S_ISDIR(status.st_mode)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077


def endpoints(environment: Mapping[str, str] | None = None) -> list[Endpoint]:
    """Ways to this user's daemon that may exist, the socket first; none that another user could have put there.

    Raises:
        DaemonError: the endpoint file is damaged.
    """
    folder = runtime_folder(environment)
    found: list[Endpoint] = []
    socket = socket_path(folder)
    if is_private(socket.parent) and socket.is_socket():
        found.append(Endpoint(socket=str(socket)))
    if is_private(folder):
        try:
            told = json.loads((folder / ENDPOINT_FILE).read_text(encoding="utf-8"))
            one = Endpoint(host=str(told["host"]), port=int(told["port"]), token=str(told["token"]))
            if not (_WORD.fullmatch(one.host) and _WORD.fullmatch(one.token)):  # neither would fit into a request
                raise ValueError("host and token are words")
            found.append(one)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            hint = "stop the daemon, remove the file, and start it again"
            raise DaemonError("not the endpoint of a daemon", path=folder / ENDPOINT_FILE, hint=hint) from error
    return found


def _temporary(base: Path | None = None) -> Path:
    if base is None:
        import tempfile  # not always needed, and slow to import

        base = Path(tempfile.gettempdir())
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return base / f"cogvault-{user}"
