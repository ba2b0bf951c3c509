"""What went wrong, for a person (standard error) or a program (``--json``), and the exit code for it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

import click

from cogvault.errors import CardError, CogvaultError, ConfigError, PathError, QueryError
from cogvault_cli.output import json_text

DONE, FINDINGS, USAGE, UNUSABLE = 0, 1, 2, 3
BROKEN_PIPE = 141
_SECTION = "section"  # an argument of `update`


class UsageFault(click.UsageError):
    """A wrong command line, with what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed command.

    Attributes:
        kind: class of the error, ``UsageError`` for a wrong command line.
        message: what was wrong.
        path, line: where, when a file or folder is concerned.
        key: the setting or option concerned.
        hint: what to do about it.
    """

    kind: str
    message: str
    path: str | None = None
    line: int | None = None
    key: str | None = None
    hint: str | None = None

    def text(self) -> str:
        """For a person, as one or two lines."""
        where = f"{self.path}:{self.line}" if self.path and self.line is not None else self.path
        lines = [click.style("error:", fg="red", bold=True) + f" {f'{where}: ' if where else ''}{self.message}"]
        if self.hint:
            lines.append(click.style("hint:", fg="cyan") + f"  {self.hint}")
        return "\n".join(lines)

    def document(self) -> str:
        """For a program, as one JSON document."""
        return json_text({"status": "failed", "error": asdict(self)})


def report(error: Exception, args: Sequence[str]) -> int:
    """Print an error as the command line asked for it, and give the exit code."""
    if isinstance(error, OSError) and not _is_written():
        return _tell_unwritten(error)
    options = args[: args.index("--")] if "--" in args else args
    failure, code = describe(error, options)
    if "--debug" in options and not isinstance(error, click.ClickException):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    if "--json" in options:
        try:
            click.echo(failure.document())
        except OSError as fault:
            return _tell_unwritten(fault)
    else:
        click.echo(failure.text(), err=True, color=False if os.environ.get("NO_COLOR") else None)
    return code


def describe(error: Exception, options: Sequence[str]) -> tuple[Failure, int]:
    """An error as a failure and its exit code.

    Args:
        error: what was raised.
        options: the command line up to ``--``.
    """
    kind = type(error).__name__
    if isinstance(error, CogvaultError):
        failure = Failure(kind, error.message, error.path, error.line, error.key, error.hint)
        return failure, USAGE if _is_argument(error) else UNUSABLE
    if isinstance(error, click.ClickException):
        return Failure("UsageError", error.format_message(), hint=_usage_hint(error, options)), USAGE
    reason = f"{kind}: {error}" if str(error) else kind
    hint = "this is a defect of cogvault; run the same command with --debug and report what it prints"
    return Failure(kind, f"unexpected {reason}", hint=hint), UNUSABLE


def _is_argument(error: CogvaultError) -> bool:
    """True when what was asked is wrong: the error names no file, or the argument itself."""
    if isinstance(error, PathError):
        return error.key is not None
    if isinstance(error, CardError) and error.key == _SECTION:
        return True
    return isinstance(error, QueryError) or (isinstance(error, ConfigError | CardError) and error.path is None)


def _usage_hint(error: click.ClickException, options: Sequence[str]) -> str | None:
    if isinstance(error, UsageFault):
        return error.hint
    context = getattr(error, "ctx", None)
    if context is None:
        return "cogvault --help"
    if dashed := _dashed_value(error, options):
        return f"text that begins with a dash goes after `--`: {context.command_path} -- '{dashed}'"
    return f"{context.command_path} --help"


def _dashed_value(error: click.ClickException, options: Sequence[str]) -> str | None:
    """The argument that was taken for an option and may have been meant as text."""
    context: click.Context | None = getattr(error, "ctx", None)
    if context is None or not any(isinstance(param, click.Argument) for param in context.command.params):
        return None
    if isinstance(error, click.NoSuchOption):
        name = "" if error.possibilities else error.option_name
    elif isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        name = next((name for name in error.param.opts if not name.startswith("--")), "")
    else:
        return None
    # `-kubernetes` is read as `-k ubernetes`, `-k nine` is a plain mistake.
    known = {name for param in context.command.params for name in (*param.opts, *param.secondary_opts)}
    return next((text for text in options if name and text.startswith(name) and text not in known), None)


def close_broken_output() -> int:
    """Let go of an output that its reader closed, so that the interpreter does not complain while it ends."""
    _let_go_of_output()
    return BROKEN_PIPE


def _is_written() -> bool:
    """True when standard output takes one more newline, which harms neither people nor JSON."""
    try:
        click.echo()
    except OSError:
        return False
    return True


def _tell_unwritten(error: OSError) -> int:
    """Say that the answer is lost, as on a full disk; only standard error is left for that."""
    _let_go_of_output()
    hint = "what the command did is done all the same; only its answer is missing"
    failure = Failure("OSError", f"standard output cannot be written: {error.strerror}", hint=hint)
    with suppress(OSError):
        click.echo(failure.text(), err=True)
    return UNUSABLE


def _let_go_of_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
