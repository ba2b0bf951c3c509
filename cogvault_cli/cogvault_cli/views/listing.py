"""Lists, trees, histories and the archive for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console

from cogvault_cli.output import printable
from cogvault_cli.views.marks import DIM, column, put, size

if TYPE_CHECKING:
    from cogvault.types import ArchivedCard, FactVersion, Folder, ListedCard

_CURRENT = "current"


def print_list(console: Console, cards: Sequence[ListedCard]) -> None:
    """One line a card: id, title and marks: when it does not hold now, why; and that it is to be looked at."""
    ids = column([card.id for card in cards])
    for card, id in zip(cards, ids, strict=True):
        put(
            console,
            f"{id}  ",
            (printable(card.title), DIM),
            *((f"  {mark}", "yellow") for mark in card.marks),
        )


def print_tree(console: Console, tree: Folder, name: str) -> None:
    """Folders with the number of cards below each, and the cards in them."""
    put(console, (printable(name), "bold"), (f"  {_cards(tree)}", DIM))
    for indent, text, note in _lines(tree, ""):
        put(console, (indent, DIM), printable(text), (f"  {printable(note)}", DIM))


def print_archive(console: Console, cards: Sequence[ArchivedCard]) -> None:
    """One line a card: the id that it had, which of several it is, and when its text last changed."""
    for card in cards:
        version = f"  version {card.version}" if card.version > 1 else ""
        day = card.modified.astimezone().date().isoformat()
        put(console, printable(card.id), (f"{version}  {day}  {size(card.size)}", DIM))


def print_history(console: Console, versions: Sequence[FactVersion]) -> None:
    """One line a version: from and until when it holds, its card, title and state."""
    ids = column([version.id for version in versions])
    for version, id in zip(versions, ids, strict=True):
        span = f"{_day(version.since):<10}  {_day(version.until):<10}  "
        title = (f"  {printable(version.title)}", DIM)
        state = (f"  {version.valid}", "green" if version.valid == _CURRENT else "yellow")
        put(console, (span, DIM), id, title, state)


def _cards(folder: Folder) -> str:
    return f"{folder.count:,} {'card' if folder.count == 1 else 'cards'}"


def _day(moment: datetime | None) -> str:
    return "-" if moment is None else moment.date().isoformat()


def _lines(folder: Folder, indent: str) -> Iterator[tuple[str, str, str]]:
    """Indent, name and note of everything below a folder."""
    count = len(folder.folders) + len(folder.cards)
    for number, inner in enumerate(folder.folders, 1):
        is_last = number == count
        yield f"{indent}{'└── ' if is_last else '├── '}", f"{inner.name}/", _cards(inner)
        yield from _lines(inner, f"{indent}{'    ' if is_last else '│   '}")
    for number, card in enumerate(folder.cards, len(folder.folders) + 1):
        note = "  ".join((card.title, *card.marks))
        yield f"{indent}{'└── ' if number == count else '├── '}", card.id.rpartition("/")[2], note
