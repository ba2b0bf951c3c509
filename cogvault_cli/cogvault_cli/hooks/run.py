"""One event from standard input to standard output: fast, and silent when anything is wrong.

A hook that fails must not stop an agent: whatever happens, the exit code is 0, and what cannot be answered in time is
not answered.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cogvault_cli.hooks.event import MAX_EVENT_BYTES, Event, answer, parse, vault_folder
from cogvault_cli.hooks.outlive import goes_on

if TYPE_CHECKING:
    from cogvault import Vault
    from cogvault.client import RemoteVault
    from cogvault_cli.hooks.state import StateFile

__all__ = ["ANSWERED", "ANSWER_SECONDS", "CAPTURE_SECONDS", "run"]

# The agent waits for an answer to these two events. What the others do, it stops after 1.5 s when it ends itself.
ANSWER_SECONDS = 0.9
CAPTURE_SECONDS = 8.0
ANSWERED = ("session-start", "prompt")


def run(name: str, *, tenant: str | None = None, debug: bool = False) -> None:
    """Handle the event on standard input.

    Args:
        name: a key of ``EVENTS``.
        tenant: folder of the vault; None = as the environment says.
        debug: say on standard error why there is no answer.
    """
    if name not in ANSWERED and not goes_on(is_heard=debug):
        return
    seconds = ANSWER_SECONDS if name in ANSWERED else CAPTURE_SECONDS
    deadline = threading.Timer(seconds, _give_up, [seconds, debug])
    deadline.daemon = True
    deadline.start()
    text = warning = ""
    try:
        event, folder = _asked(name, tenant)
        warning = _warning(folder) if name == "session-start" else ""
        text = _handle(event, folder)
    except Exception as error:  # the outermost boundary of a program that must not fail
        _explain(f"{type(error).__name__}: {error}", debug)
    deadline.cancel()
    if (text or warning) and sys.stdout is not None:  # it may have been closed before this program began
        try:
            sys.stdout.write(f"{answer(name, text, warning)}\n")
            sys.stdout.flush()
        except OSError as error:  # nobody listens any more
            _explain(str(error), debug)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _asked(name: str, tenant: str | None) -> tuple[Event, Path]:
    """The event, and the folder of the vault that it is about."""
    event = parse(name, sys.stdin.buffer.read(MAX_EVENT_BYTES + 1))
    environment = os.environ if tenant is None else {**os.environ, "COGVAULT_TENANT": tenant}
    folder = vault_folder(event, environment)
    if folder is None:
        raise LookupError("no vault: set COGVAULT_TENANT to its folder")
    return event, folder


def _warning(folder: Path) -> str:
    """What the user has to know at the start, as nobody hears what the later events fail at."""
    from cogvault_cli.hooks.state import fault, hooks_folder

    if why := fault(hooks_folder()):
        done = "what is said will not be kept, and memories are told more than once"
        return f"cogvault: {done}, as nothing can be written into {why} (mend that, or set COGVAULT_STATE_DIR)"
    why = str(_failure(folder).read().get("why", ""))
    return f"cogvault: what was said when this was last tried was not kept yet: {why}" if why else ""


def _failure(folder: Path) -> StateFile:
    """Why what was said could not be kept the last time, whatever the session."""
    from cogvault_cli.hooks.state import StateFile, hooks_folder

    return StateFile(hooks_folder(), folder.resolve(), "", "failed")


def _handle(event: Event, folder: Path) -> str:
    if event.name not in ANSWERED:
        return _capture(event, folder)
    if not (text := _recall(event, folder)):
        raise LookupError("nothing in memory surely bears on this, or the session was told it already")
    return text


def _recall(event: Event, folder: Path) -> str:
    """Only a daemon can answer in time: opening a vault and a model takes longer than anybody wants to wait."""
    from cogvault_cli.hooks.ask import ask

    return ask(event, folder)


def _capture(event: Event, folder: Path) -> str:
    if not event.transcript:
        raise LookupError("the event names no transcript")
    from cogvault.errors import CogvaultError
    from cogvault_cli.hooks.capture import capture
    from cogvault_cli.hooks.state import StateFile, hooks_folder, prune

    failure = _failure(folder)
    try:
        with _open(folder) as vault:
            capture(event, vault, StateFile(hooks_folder(), vault.path, event.session, "capture"))
        failure.remove()
    except (CogvaultError, OSError) as error:
        with suppress(OSError):
            failure.write({"why": str(error)})
        raise
    if event.name == "session-end":
        prune(hooks_folder())
    return ""


def _open(folder: Path) -> Vault | RemoteVault:
    """The daemon's vault, else one of this process: what was said is kept in any case."""
    from cogvault.client import connect
    from cogvault.errors import DaemonError

    try:
        if (vault := connect(folder)) is not None:
            return vault
    except DaemonError:
        pass
    from cogvault import Vault

    return Vault(folder)


def _give_up(seconds: float, debug: bool) -> None:
    _explain(f"no answer within {seconds} s", debug)
    os._exit(0)


def _explain(reason: str, debug: bool) -> None:
    if debug and sys.stderr is not None:
        sys.stderr.write(f"cogvault hook: {reason}\n")
        sys.stderr.flush()
