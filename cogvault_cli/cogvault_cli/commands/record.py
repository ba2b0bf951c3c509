"""``cogvault record``: write a card."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import DONE, UNUSABLE, UsageFault
from cogvault_cli.inputs import Pair, as_text, json_lines, standard_input
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json, tell_written

if TYPE_CHECKING:
    from cogvault.types import Draft

# Fields of a line, and what JSON may give for them.
_TEXT = (str, NoneType)
_FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("content", "title", "type", "description", "to", "valid_from", "valid_until", "source"), _TEXT),
    "tags": (list, str, NoneType),
    "importance": (int, float, NoneType),
    "pinned": (bool, NoneType),
    "redact": (bool, NoneType),
    "meta": (dict, NoneType),
}
_FIELDS_HINT = f"a line may have {', '.join(_FIELDS)}"


@click.command(
    "record",
    cls=ExampleCommand,
    examples=(
        'cogvault record "Deploys go out on Tuesday." --tag ops --tenant ~/agent/memory',
        "cogvault record --title 'Release steps' --type reference",
        'cogvault record "Ana likes tea." --to cogvault://user/ana/',
        "cogvault record --jsonl --tenant ~/agent/memory",
    ),
)
@click.argument("text", required=False)
@option("--title", metavar="TEXT", help="Its title; default: the first heading or words of the text.")
@option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable.")
@option("--description", metavar="TEXT", help="What it says, in a line; default: taken from the text.")
@option("--to", metavar="PLACE", help="Folder, path or address to write to.")
@option("--importance", type=float, metavar="N", help="From 0 to 1.")
@option("--pinned/--no-pinned", default=None, help="It never ages and is never swept.")
@option("--valid-from", metavar="DATE", help="When it begins to hold.")
@option("--valid-until", metavar="DATE", help="When it ceases to hold.")
@option("--source", metavar="TEXT", help="Where it comes from.")
@option("--meta", type=Pair(), multiple=True, metavar="KEY=VALUE", help="Another frontmatter key; repeatable.")
@option("--redact/--no-redact", default=False, help="Mask what looks like a secret.")
@option(
    "--jsonl/--no-jsonl",
    default=False,
    help="Standard input is one JSON object a line: content and, if wanted, other fields; options are for all.",
)
@shared_options()
def command(shared: Shared, text: str | None, meta: tuple[tuple[str, Any], ...], jsonl: bool, **given: Any) -> int:
    """Write a card, and say what is like it.

    TEXT is the card's text; without it standard input is read. Frontmatter at the top of it is kept and completed. A
    text that a card has already is not written again. `--type` is the card's type: user, feedback, project, reference
    or any word. Values of `--meta` are read as those of `cogvault update --set`.

    With `--jsonl` many cards are written, each on its own: one that is refused is told, and the others are written.
    Fields are those of `Draft`; what a line says counts more than an option.
    """
    if len(shared.types) > 1:
        raise UsageFault("a card has one type", "say --type once")
    fields = {**given, "type": next(iter(shared.types), None), "meta": dict(meta)}
    if jsonl:
        if text is not None:
            raise UsageFault("the texts come from standard input", "leave out TEXT or --jsonl")
        return _record_many(shared, fields)
    content = standard_input() if text is None else as_text(text)
    with shared.open() as vault:
        result = vault.record(content, **fields)
    tell_written(result, as_json=shared.as_json)
    return DONE


def _record_many(shared: Shared, fields: dict[str, Any]) -> int:
    drafts = [_draft(number, line, fields) for number, line in json_lines()]  # all are read before one is written
    with shared.open() as vault:
        results = vault.record_many(drafts)
    is_failed = any(result.action == "refused" for result in results)
    if shared.as_json:
        documents = [result.to_dict() for result in results]
        print_json({"status": "failed" if is_failed else "ok" if documents else "empty", "results": documents})
    else:
        from cogvault_cli.views.written import print_written

        for result in results:
            print_written(make_console(), result)
    return UNUSABLE if is_failed else DONE


def _draft(number: int, line: dict[str, Any], fields: dict[str, Any]) -> Draft:
    from cogvault.types import Draft

    for name, value in line.items():
        if not isinstance(value, _FIELDS.get(name, ())) or (name == "content" and value is None):
            raise UsageFault(f"line {number} of standard input: no card can have {name}={value!r}"[:200], _FIELDS_HINT)
    if "content" not in line:
        raise UsageFault(f"line {number} of standard input has no content", 'write {"content": …}')
    said = {name: value for name, value in line.items() if value is not None}
    if isinstance(said.get("tags"), str):
        said["tags"] = said["tags"].split(",")
    if not all(isinstance(word, str) for word in said.get("tags", ())):
        raise UsageFault(f"line {number} of standard input has tags that are no text", _FIELDS_HINT)
    said["meta"] = {**fields["meta"], **said.get("meta", {})}
    return Draft(**{**fields, **said})
