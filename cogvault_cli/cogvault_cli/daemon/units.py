"""Files that let the system start the daemon."""

from __future__ import annotations

import plistlib
import sys
from pathlib import Path

__all__ = ["launchd", "systemd"]


def systemd(program: str) -> str:
    """A systemd user unit. ``program``: the command's absolute path."""
    return f"""\
[Unit]
Description=cogvault daemon: searchable memory for agents

[Service]
ExecStart={_quoted(program)} daemon
ExecStop={_quoted(program)} daemon --stop
Restart=on-failure
UMask=0077
NoNewPrivileges=true

[Install]
WantedBy=default.target
"""


def launchd(program: str) -> str:
    """A launchd property list for a user agent. ``program``: the command's absolute path."""
    settings = {
        "Label": "org.cogvault.daemon",
        "ProgramArguments": [program, "daemon"],
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "Umask": 0o077,
    }
    return plistlib.dumps(settings).decode()


def own_program() -> str:
    """Absolute path of the ``cogvault`` command of this environment."""
    return str(Path(sys.executable).with_name("cogvault"))


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(letter in path for letter in " \t\"'") else escaped
