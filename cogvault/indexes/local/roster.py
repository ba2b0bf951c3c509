"""Makes one card table after another, each from the one before it and what the catalog says has changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.rows import COLUMNS, CardRow
from cogvault.indexes.local.schema import NEVER, many

_ALL = f"SELECT {COLUMNS} FROM cards WHERE born <= ? AND dead > ?"
_ROWS = f"SELECT {COLUMNS} FROM cards WHERE version IN (SELECT value FROM json_each(?))"
_CHANGED = "SELECT version, changed, born, dead FROM cards WHERE changed > ?"
_DEAD = f"SELECT version FROM cards WHERE dead <= ? AND dead < {NEVER}"
_COUNT = "SELECT count(*) FROM cards"
_VERSIONS = "SELECT version FROM cards WHERE born <= ? AND dead > ?"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A table, and up to which changes it is good.

    Attributes:
        sequence: cards that came and went until then are in it.
        stamped: stamps that changed until then are in it.
    """

    sequence: int
    stamped: int
    table: CardTable


class Roster:
    """Hands out the cards of one view after another; what a commit touches is read, and nothing else."""

    def __init__(self) -> None:
        self._last: _Seen | None = None

    def table(self, connection: sqlite3.Connection, sequence: int, stamped: int) -> CardTable:
        """The cards alive at a sequence number.

        Args:
            connection: to the catalog.
            sequence: the view's.
            stamped: the last change of any card, as the connection sees it; the table is the same while both are.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        last = self._last
        if last is None or sequence < last.sequence or stamped < last.stamped:
            table = CardTable.of([CardRow(row) for row in connection.execute(_ALL, (sequence, sequence))])
        elif (sequence, stamped) == (last.sequence, last.stamped):
            return last.table
        else:
            table = _followed(connection, last, sequence)
        self._last = _Seen(sequence, stamped, table)
        return table


def _followed(connection: sqlite3.Connection, last: _Seen, sequence: int) -> CardTable:
    """The next table."""
    table = last.table
    # Cards that were born behind the last view have to be looked at when a view gets there.
    since = last.stamped if sequence == last.sequence else last.sequence
    changed = connection.execute(_CHANGED, (since,)).fetchall()
    alive = {version: change for version, change, born, dead in changed if born <= sequence < dead}
    held = {row.version: row for row in _held(table, alive)}
    come = [version for version, change in alive.items() if version not in held or held[version].changed != change]
    gone = {version: held[version] for version in come if version in held}
    rows = [CardRow(row) for row in connection.execute(_ROWS, (many(come),))] if come else []
    for place in (table.place_of(row.id) for row in rows):
        if place is not None:
            gone[table.rows[place].version] = table.rows[place]
    if sequence > last.sequence:
        dead = [version for (version,) in connection.execute(_DEAD, (sequence,))]
        gone |= {row.version: row for row in _held(table, dead)}
        unborn = sum(born > sequence for _, _, born, _ in changed)
        living = connection.execute(_COUNT).fetchone()[0] - len(dead) - unborn
        if len(table.rows) - len(gone) + len(rows) != living:
            # Cards were removed, and are purged by now: nothing tells which they were but that they are not there.
            versions = [version for (version,) in connection.execute(_VERSIONS, (sequence, sequence))]
            lost = table.starts[~np.isin(table.starts, np.array(versions, np.int64))]
            gone |= {row.version: row for row in _held(table, lost.tolist())}
    return table.changed(list(gone.values()), rows) if gone or rows else table


def _held(table: CardTable, versions: Iterable[int]) -> list[CardRow]:
    """Rows of those versions that a table has."""
    slots = table.find(np.array(list(versions), np.int64))
    return [table.rows[place] for place in table.places[slots[slots >= 0]].tolist()]
