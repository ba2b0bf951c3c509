"""``cogvault ls``: which cards there are."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import UsageFault
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json


@click.command(
    "ls",
    cls=ExampleCommand,
    examples=(
        "cogvault ls --tenant ~/agent/memory",
        "cogvault ls --tree --tenant ~/agent/memory",
        "cogvault ls cogvault://user/ana/preferences/",
        "cogvault ls --due",
        "cogvault ls --archived",
    ),
)
@click.argument("prefix", default="")
@option("--tree/--no-tree", default=False, help="Show folders.")
@option("--archived/--no-archived", default=False, help="List what was forgotten and can be restored.")
@option("--due/--no-due", default=False, help="List only cards that are to be looked at again by now (review_by).")
@shared_options()
def command(shared: Shared, prefix: str, tree: bool, archived: bool, due: bool) -> None:
    """List the cards of a folder or address.

    PREFIX is a folder or the beginning of an address, and ends at a path boundary: `user/an` does not select
    `user/ana`. Without it all cards are listed. Changed files are looked for first.
    """
    if archived and (tree or prefix or due):
        raise UsageFault("the archive is listed as a whole", "leave out PREFIX, --tree and --due")
    if tree and due:
        raise UsageFault("a tree shows all cards, and marks those whose review is due", "leave out --tree or --due")
    with shared.open() as vault:
        if archived:
            kept = vault.archived()
        elif tree:
            folder = vault.tree(prefix)
        else:
            cards = [card for card in vault.list(prefix) if card.review_due or not due]
    if shared.as_json:
        if archived:
            print_json({"status": "ok", "archived": [card.to_dict() for card in kept]})
        elif tree:
            print_json({"status": "ok", "tree": folder.to_dict()})
        else:
            print_json({"status": "ok", "cards": [card.to_dict() for card in cards]})
        return
    from cogvault_cli.views.listing import print_archive, print_list, print_tree

    console = make_console()
    if archived:
        print_archive(console, kept)
    elif tree:
        print_tree(console, folder, prefix or ".")
    else:
        print_list(console, cards)
