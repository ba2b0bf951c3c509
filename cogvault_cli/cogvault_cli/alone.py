"""Work that goes on when its command is done, as ``git gc`` does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["index_alone"]

# Fields of the settings that shape an index, and their options.
_FLAGS = {"recursive": "recursive", "strip_frontmatter": "strip-frontmatter"}


def index_alone(folder: Path, settings: Mapping[str, Any]) -> int:
    """Begin ``cogvault index`` in a process that nobody waits for; gives its number.

    Args:
        folder: the vault.
        settings: fields of ``Config`` that were given; environment and files tell the rest.
    """
    # -P: nothing is imported from the folder in which the command was given, which may be a vault.
    command = [sys.executable, "-P", "-m", "cogvault_cli", "index", "--tenant", str(folder.absolute())]
    if "model" in settings:
        command += ["--model", settings["model"]]
    for field, flag in _FLAGS.items():
        if field in settings:
            command.append(f"--{flag}" if settings[field] else f"--no-{flag}")
    for pattern in settings.get("ignore", ()):
        command += ["--ignore", pattern]
    null = subprocess.DEVNULL
    flags: int = getattr(subprocess, "DETACHED_PROCESS", 0)  # on Windows
    process = subprocess.Popen(
        command, stdin=null, stdout=null, stderr=null, start_new_session=True, creationflags=flags
    )
    return process.pid
