"""``cogvault hook``: memory for Claude Code, event by event."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import DONE
from cogvault_cli.hooks.event import EVENTS


@click.command(
    "hook",
    cls=ExampleCommand,
    examples=(
        "cogvault hook prompt --tenant ~/agent/memory",
        "cogvault hook session-end --debug",
    ),
)
@click.argument("event", type=click.Choice(list(EVENTS)), metavar="EVENT")
@option("--tenant", metavar="DIR", help="Folder of the vault (COGVAULT_TENANT); a relative one is in the project.")
@option("--debug", is_flag=True, help="Say on standard error why there is no answer.")
def command(event: str, tenant: str | None, debug: bool) -> int:
    """Answer an event of Claude Code.

    EVENT is `session-start` or `prompt` (tell what memory says, through the daemon; nothing without one),
    `pre-compact` or `session-end` (keep what was said in the session of the same name). The event is JSON on standard
    input. It never fails: whatever is wrong, the exit code is 0 and nothing is printed; but
    the start tells the user when what was said could not be kept.
    """
    from cogvault_cli.hooks.run import run

    run(event, tenant=tenant, debug=debug)
    return DONE
