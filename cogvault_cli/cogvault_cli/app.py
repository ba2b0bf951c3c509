"""The command group: loads a command's module when it runs, and turns every outcome into an exit code."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

PROGRAM = "cogvault"
COMPLETION_VARIABLE = "_COGVAULT_COMPLETE"
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Application(click.Group):
    """Commands known by name and one line of help until one of them is needed.

    Args:
        commands_help: name of each command, which is its module in ``cogvault_cli.commands``, and its line of help.
    """

    def __init__(self, *args: Any, commands_help: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._help = commands_help

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Names in the order of the list: the way to first results comes first."""
        return list(self._help)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self._help:
            return None
        command: click.Command = importlib.import_module(f"cogvault_cli.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a name that is none gets the nearest ones as a hint."""
        if not args[0].startswith("-") and args[0] not in self._help:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self._help)
            meant = f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._help.items()))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **__: Any) -> Any:
        """Run, print what went wrong if something did, and exit."""
        given = list(sys.argv[1:] if args is None else args) or ["--help"]
        for stream in (sys.stdout, sys.stderr):
            # A file name may hold bytes that are no text, and a terminal may know fewer letters than we print.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        sys.exit(self._run(given))

    def _run(self, args: list[str]) -> int:
        if wish := os.environ.get(COMPLETION_VARIABLE):
            from click.shell_completion import shell_complete

            return shell_complete(self, {}, PROGRAM, COMPLETION_VARIABLE, wish)
        try:
            # Not click's own main(): it would turn a closed pipe into exit code 1, which means findings here.
            # A copy, because click takes out of it what it has read, and an error is told as all of it asked.
            with self.make_context(PROGRAM, list(args)) as context:
                code = self.invoke(context)
            sys.stdout.flush()
        except click.exceptions.Exit as done:
            return done.exit_code
        except BrokenPipeError:
            from cogvault_cli.failures import close_broken_output

            return close_broken_output()
        except (click.exceptions.Abort, KeyboardInterrupt):
            click.echo("interrupted; what was finished is kept, the same command goes on from there", err=True)
            return 130
        except Exception as error:  # the outermost boundary: nobody should ever see a traceback they did not ask for
            from cogvault_cli.failures import report

            return report(error, args)
        return code if isinstance(code, int) else 0
