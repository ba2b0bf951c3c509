"""What the catalog holds and the keyword folder does not yet.

Writing into the keyword folder takes 10 ms and flushes some 16 files to the disk, however little is written. So a few
new chunks wait in the catalog until more have come, and a search scores all of them beside what the folder finds. Cards
that died do not wait: their words have to go.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

import numpy as np

from cogvault.indexes.local.lexical import LexicalView
from cogvault.indexes.local.schema import NEVER, State
from cogvault.types import IntArray

# A search scores 100 chunks more in .1 ms.
_MOST_CHUNKS = 128
# Nor a larger share than this of what the folder holds, whose engine weighs words by what it knows.
_MOST_SHARE = 0.01

_BORN = f"SELECT version, chunks FROM cards WHERE changed > ? AND born > ? AND dead = {NEVER} LIMIT ?"
_DEAD = f"SELECT 1 FROM cards WHERE dead > ? AND dead < {NEVER} LIMIT ?"


@dataclass(frozen=True, slots=True)
class WaitingCards:
    """A few changes of cards that wait for a keyword folder.

    Attributes:
        born: ascending versions of living cards that are not in it.
        has_dead: some died since, in it or on the way to it.
    """

    born: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    has_dead: bool = False

    @property
    def is_none(self) -> bool:
        """True when nothing waits."""
        return not (len(self.born) or self.has_dead)


def waiting_cards(
    connection: sqlite3.Connection, state: State, lexical: LexicalView, room: int = 0
) -> WaitingCards | None:
    """What waits for a keyword folder; None = more than a search could do without it.

    Args:
        connection: in the transaction in which ``state`` was read.
        state: of the catalog.
        lexical: the folder, no further than the state.
        room: chunks and cards that may come on top.

    Raises:
        sqlite3.Error: the catalog cannot be read.
    """
    reached = lexical.sequence
    if reached == state.lexical:
        return WaitingCards()
    most = min(_MOST_CHUNKS, int(_MOST_SHARE * lexical.documents)) - room
    if most <= 0:
        return None
    born = connection.execute(_BORN, (reached, reached, most + 1)).fetchall()
    dead = connection.execute(_DEAD, (reached, most + 1)).fetchall()
    if sum(chunks for _, chunks in born) + len(dead) > most:
        return None
    return WaitingCards(np.sort(np.array([version for version, _ in born], np.int64)), bool(dead))
