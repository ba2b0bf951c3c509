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
        "cogvault ls --archived",
    ),
)
@click.argument("prefix", default="")
@option("--tree/--no-tree", default=False, help="Show folders.")
@option("--archived/--no-archived", default=False, help="List what was forgotten and can be restored.")
@shared_options()
def command(shared: Shared, prefix: str, tree: bool, archived: bool) -> None:
    """List the cards of a folder or address.

    PREFIX is a folder or the beginning of an address, and ends at a path boundary: `user/an` does not select
    `user/ana`. Without it all cards are listed. Changed files are looked for first.
    """
    if archived and (tree or prefix):
        raise UsageFault("the archive is listed as a whole", "leave out PREFIX and --tree")
    with shared.open() as vault:
        if archived:
            kept = vault.archived()
        elif tree:
            folder = vault.tree(prefix)
        else:
            cards = vault.list(prefix)
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
