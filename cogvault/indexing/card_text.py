"""Lines of a card's file, numbered as hits number them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cogvault.cards.decoding import decode
from cogvault.cards.paths import refusal
from cogvault.errors import QueryError
from cogvault.indexing.locate import locate
from cogvault.indexing.reading import FileBytes, read_file
from cogvault.indexing.scan import ScanOptions, root_id
from cogvault.types import CardInfo, CardText
from cogvault.types.arguments import check_arguments

__all__ = ["read_card"]


def read_card(
    root: Path, options: ScanOptions, cards: Sequence[CardInfo], id: str, lines: tuple[int, int] | None
) -> CardText:
    """Read a card as it stands in its file; other files of the vault are refused.

    Args:
        root: the vault.
        options: which files belong to it, for a card that is not indexed yet.
        cards: what is indexed, ordered by id.
        id: id of the card, its path on disk, or its address.
        lines: first and last line, 1-based; None = all.

    Raises:
        PathError: no card has this id; the refusal does not say what exists.
        QueryError: the lines are no range.
        VaultError: the vault's folder is gone.
    """
    check_arguments(id=id, lines=lines)
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise QueryError(f"not a range of lines: {lines[0]}-{lines[1]}", key="lines", hint="write 10-24")
    root_id(root)
    card = locate(root, options, cards, id)
    file = _read(card.file, id)
    # Only these are lines: str.splitlines would cut at form feeds and U+2028 as well.
    every = [f"{line}\n" for line in decode(file.data).text.split("\n")]
    every[-1] = every[-1][:-1]
    if not every[-1]:
        del every[-1]
    first, last = lines or (1, len(every))
    last = min(last, len(every))
    return CardText(card.id, "".join(every[first - 1 : last]), (first, last), len(every), file.hash)


def _read(file: Path, id: str) -> FileBytes:
    try:
        # Resolved, as a card may be a link within the vault; what it leads to is then opened as no link.
        return read_file(file.resolve(), sys.maxsize, time.time_ns)
    except OSError as error:
        raise refusal(id) from error
