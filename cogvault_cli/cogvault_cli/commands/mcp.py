"""``cogvault mcp``: serve a vault over MCP."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

import click

from cogvault_cli.command import ExampleCommand

_PROGRAM = "cogvault-mcp"


@click.command(
    "mcp",
    cls=ExampleCommand,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    examples=(
        "cogvault mcp --tenant ~/agent/memory",
        "cogvault mcp --tenant ~/agent/memory --http 127.0.0.1:8765",
        "cogvault mcp --help",
    ),
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Serve a vault to any MCP client: `cogvault-mcp` with the same options."""
    from cogvault.errors import CogvaultError

    program = shutil.which(_PROGRAM, path=sysconfig.get_path("scripts")) or shutil.which(_PROGRAM)
    if program is None:
        raise CogvaultError(f"{_PROGRAM} is not installed", hint="pip install cogvault-mcp")
    if os.name == "posix":
        os.execv(program, [program, *arguments])
    import subprocess

    return subprocess.run([program, *arguments], stdin=sys.stdin, check=False).returncode
