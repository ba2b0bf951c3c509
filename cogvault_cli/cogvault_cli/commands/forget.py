"""``cogvault forget``: a card, or all weak ones, go to the archive, or for good."""

from __future__ import annotations

import click

from cogvault_cli.command import ExampleCommand, option
from cogvault_cli.failures import DONE, UNUSABLE, UsageFault
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json, tell_written


@click.command(
    "forget",
    cls=ExampleCommand,
    examples=(
        "cogvault forget project_old-queue.md --tenant ~/agent/memory",
        "cogvault forget project_old-queue.md --purge",
        "cogvault forget project_old-queue.md --purge --archived",
        "cogvault forget --sweep",
        "cogvault forget --sweep --apply",
    ),
)
@click.argument("id", required=False)
@option("--purge/--no-purge", default=False, help="Delete it for good: file, index rows, vectors, caches.")
@option("--archived/--no-archived", default=False, help="With --purge: delete what is in the archive.")
@option("--sweep/--no-sweep", default=False, help="Judge all cards: which are weak, which are kept, and why.")
@option("--apply/--no-apply", default=False, help="With --sweep: archive the weak ones.")
@shared_options()
def command(shared: Shared, id: str | None, purge: bool, archived: bool, sweep: bool, apply: bool) -> int:
    """Move a card to the archive, or delete it.

    ID is the card's path in the vault, or its address. The archive is the vault's folder `.archive`, out of search;
    `ls --archived` lists it and `restore` brings a card back, byte for byte.

    With `--sweep` cards that were long not used are looked for instead. Nothing is changed without `--apply`, and
    nothing is deleted but by `--purge` in a vault that allows it (forgetting_archive_before_delete = false).
    """
    if sweep:
        if id is not None or archived:
            raise UsageFault("a sweep is over all cards of the vault", "leave out the card and --archived")
        return _sweep(shared, apply, purge)
    if id is None:
        raise UsageFault("no card was named", "say which, or --sweep to look for weak ones")
    if apply:
        raise UsageFault("--apply belongs to --sweep", "leave it out: a card that is named is forgotten at once")
    if archived and not purge:
        raise UsageFault("what is in the archive is forgotten already", "say --purge as well to delete it for good")
    with shared.open() as vault:
        result = vault.purge(id) if archived else vault.forget(id, purge=purge)
    tell_written(result, as_json=shared.as_json)
    return DONE


def _sweep(shared: Shared, apply: bool, purge: bool) -> int:
    with shared.open() as vault:
        report = vault.sweep(apply=apply, purge=purge)
    is_failed = report.applied and any(item.action is None for item in report.weak)
    if shared.as_json:
        print_json({"status": "failed" if is_failed else "ok", **report.to_dict()})
    else:
        from cogvault_cli.views.sweep import print_sweep

        print_sweep(make_console(), report)
    return UNUSABLE if is_failed else DONE
