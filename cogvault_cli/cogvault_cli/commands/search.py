"""``cogvault search``: find the cards that answer a question."""

from __future__ import annotations

from typing import Any

import click

from cogvault_cli.command import OWN, ExampleCommand, option
from cogvault_cli.failures import DONE, UNUSABLE
from cogvault_cli.inputs import as_text
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


def _pairs(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """``KEY=VALUE`` texts as a mapping."""
    pairs = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"{text!r} is not KEY=VALUE")
        pairs[key.strip()] = value.strip()
    return pairs


@click.command(
    "search",
    cls=ExampleCommand,
    examples=(
        "cogvault search why did the job queue leave Redis --tenant ~/agent/memory",
        "cogvault search 'billing export' --type project --tag fix --after 2025-10 --explain",
        "cogvault search --json -k 3 'who is on call' | jq -r '.hits[].citation'",
        "cogvault search -- -Werror",
    ),
)
@shared_options(recall=OWN)
@click.argument("query", nargs=-1, required=True)
@option("--tag", "tags", multiple=True, metavar="TAG", help="Only cards with this tag; repeat it for all of several.")
@option("--path", metavar="PATH", help="Only this folder or card, relative to the vault.")
@option("--after", metavar="DATE", help="Only cards dated at or after, for example 2026-05 or 2026-05-31.")
@option("--before", metavar="DATE", help="Only cards dated before.")
@option("--as-of", metavar="DATE", help="What was valid at this instant.")
@option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_pairs,
    help="Only cards with this frontmatter value; repeatable.",
)
@option(
    "--min-score",
    type=click.FloatRange(0, 1),
    metavar="SCORE",
    help="Lowest score, 0 to 1, instead of the threshold ladder.",
)
@option(
    "--budget",
    "budget_tokens",
    type=click.IntRange(1),
    metavar="TOKENS",
    help="Pack the answer into so many tokens and print its text.",
)
@option(
    "--layer",
    type=click.Choice(["auto", "L2", "L1", "L0"], case_sensitive=False),
    metavar="LAYER",
    default="auto",
    show_default=True,
    help="With --budget: auto, or one of L2 (detail), L1 (overview), L0 (abstract).",
)
@option("--explain/--no-explain", default=False, help="Show the parts of each score and the steps of the search.")
@option("--sync/--no-sync", default=True, show_default=True, help="Look for changed files first.")
def command(shared: Shared, query: tuple[str, ...], tags: tuple[str, ...], explain: bool, **filters: Any) -> int:
    """Find the cards that answer a question.

    QUERY is a question, some words, or a title, in any language; several words need no quotes. Changed files are
    taken in first. Finding nothing is no error: the status is then `empty`.
    """
    with shared.open() as vault:
        hits = vault.search(
            as_text(" ".join(query)), shared.k, type=shared.types or None, tags=tags or None, explain=explain, **filters
        )
    if shared.as_json:
        print_json(hits.to_dict())
    else:
        from cogvault_cli.views.hits import print_answer, print_hits

        if filters["budget_tokens"] is not None:
            print_answer(make_console(), hits)
        else:
            print_hits(make_console(), hits, shared.folder(), explain=explain)
    return UNUSABLE if hits.status == "failed" else DONE
