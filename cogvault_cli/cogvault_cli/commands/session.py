"""``cogvault session``: dialogues, turn by turn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import UsageFault
from cogvault_cli.inputs import Pair, json_lines, standard_input
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import print_json, printable

if TYPE_CHECKING:
    from cogvault import Session, Turn, Vault
    from cogvault.client import RemoteSession, RemoteVault

_KEYS = {"speaker", "text", "at", "meta"}


@click.command(
    "session",
    cls=ExampleCommand,
    examples=(
        'cogvault session append standup "Shall we drop Redis?" --speaker Ana --tenant ~/agent/memory',
        "cogvault session append standup --jsonl --tenant ~/agent/memory",
        "cogvault session show standup --last 10",
        "cogvault session close standup",
        "cogvault session ls --json",
    ),
)
@click.argument("action", type=click.Choice(["append", "show", "close", "ls"]), metavar="ACTION")
@click.argument("name", required=False)
@click.argument("text", required=False)
@option("--speaker", metavar="NAME", help="Who speaks (append).")
@option("--at", metavar="TIME", help="When it was said, ISO 8601 (append); default: now.")
@option("--meta", type=Pair(), multiple=True, metavar="KEY=VALUE", help="Something else to keep (append); repeatable.")
@option(
    "--jsonl/--no-jsonl",
    default=False,
    help="Standard input is one JSON object a line: speaker, text and, if wanted, at and meta (append).",
)
@option("--last", type=click.IntRange(min=0), metavar="N", help="Only the newest N turns (show).")
@shared_options()
def command(
    shared: Shared,
    action: str,
    name: str | None,
    text: str | None,
    speaker: str | None,
    at: str | None,
    meta: tuple[tuple[str, Any], ...],
    jsonl: bool,
    last: int | None,
) -> None:
    """Keep dialogues, turn by turn.

    ACTION is `append` (add TEXT, or what stands on standard input, to the session NAME), `show` (print its turns),
    `close` (index everything and print its abstract and overview) or `ls` (list sessions). Turns are kept in readable
    files, `session/NAME/timeline/YYYY-MM-DD_001.md`. A turn is on disk when the command ends.
    """
    if action == "ls":
        with shared.open() as vault:
            _list(vault, shared.as_json)
        return
    if name is None:
        raise UsageFault("no session was named", f"say `cogvault session {action} NAME`")
    with shared.open() as vault:
        session = vault.session(name)
        if action == "append":
            turns = _append_lines(session) if jsonl else [_append(session, text, speaker, at, dict(meta))]
            _print_turns(name, turns, shared.as_json, is_quiet=True)
        elif action == "show":
            _print_turns(name, session.turns(last), shared.as_json, is_quiet=False)
        elif session.name in vault.sessions():
            _close(session, shared.as_json)
        else:
            raise UsageFault(f"no session {name!r} has turns", "see `cogvault session ls`")


def _append(
    session: Session | RemoteSession, text: str | None, speaker: str | None, at: str | None, meta: dict[str, Any]
) -> Turn:
    if speaker is None:
        raise UsageFault("nobody speaks", "say who with `--speaker NAME`")
    said = standard_input().removesuffix("\n") if text is None else text
    return session.append(speaker, said, at, meta)


def _append_lines(session: Session | RemoteSession) -> list[Turn]:
    """Turns as they come, each on disk before the next line is read."""
    return [session.append(**fields) for fields in _lines()]


def _lines() -> Iterator[dict[str, Any]]:
    for number, fields in json_lines():
        if not {"speaker", "text"} <= fields.keys() <= _KEYS:
            raise UsageFault(
                f"line {number} of standard input is no turn",
                'write {"speaker": …, "text": …} and, if wanted, "at" and "meta"',
            )
        yield fields


def _print_turns(name: str, turns: list[Turn], as_json: bool, *, is_quiet: bool) -> None:
    from cogvault.types import to_json

    if as_json:
        print_json({"status": "ok" if turns else "empty", "session": name, "turns": to_json(turns)})
    elif is_quiet:
        sys.stdout.write(f"{len(turns)} {'turn' if len(turns) == 1 else 'turns'} added to {printable(name)}\n")
    else:
        for turn in turns:
            when = "" if turn.at is None else f" ({turn.at.isoformat()})"
            sys.stdout.write(f"{printable(f'{turn.speaker}{when}: {turn.text}')}\n\n")


def _close(session: Session | RemoteSession, as_json: bool) -> None:
    layers = session.close()
    if as_json:
        document = {"session": session.name, "abstract": layers.abstract, "overview": layers.overview}
        print_json({"status": "ok", **document})
    else:
        sys.stdout.write(printable("\n\n".join(text for text in (layers.abstract, layers.overview) if text)) + "\n")


def _list(vault: Vault | RemoteVault, as_json: bool) -> None:
    names = vault.sessions()
    if as_json:
        print_json({"status": "ok" if names else "empty", "sessions": names})
    else:
        sys.stdout.write("".join(f"{printable(name)}\n" for name in names))
