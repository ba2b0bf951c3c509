"""Which chunks have a vector, without reading the vectors."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.schema import many
from cogvault.types import BoolArray

_MODEL = "SELECT id FROM models WHERE fingerprint = ?"
_NEWEST = "SELECT max(changed) FROM vectors WHERE model = ?"
_HELD = "SELECT version, positions FROM vectors WHERE model = ?"
_CHANGED = f"{_HELD} AND changed > ?"
_OF_VERSIONS = f"{_HELD} AND version IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Chunks of a table that have a vector of one model.

    Attributes:
        table: the cards.
        model: id in the catalog, None = it has none.
        changed: the newest change of a vector that is in it.
        held: (chunks,) by row of the table.
    """

    table: CardTable
    model: int | None
    changed: int
    held: BoolArray

    @classmethod
    def of(
        cls, connection: sqlite3.Connection, fingerprint: str, table: CardTable, before: Coverage | None
    ) -> Coverage:
        """What this connection sees.

        Args:
            connection: to the catalog.
            fingerprint: of the model.
            table: the cards.
            before: another one, which is followed when it is of the same model and of this table or the one before.

        Raises:
            sqlite3.DatabaseError: a row is damaged.
        """
        row = connection.execute(_MODEL, (fingerprint,)).fetchone()
        if row is None:
            return cls(table, None, 0, np.zeros(table.chunks, np.bool_))
        model: int = row[0]
        newest = connection.execute(_NEWEST, (model,)).fetchone()[0] or 0
        if before is None or before.model != model or (step := table.step_from(before.table)) is None:
            held, pairs = np.zeros(table.chunks, np.bool_), connection.execute(_HELD, (model,)).fetchall()
        elif before.table is table and before.changed == newest:
            return before
        else:
            held = step.rows.extended(before.held, False)
            come = table.starts[step.slots.come].tolist()
            pairs = connection.execute(_CHANGED, (model, before.changed)).fetchall()
            pairs += connection.execute(_OF_VERSIONS, (model, many(come))).fetchall()
        if any(len(each) % 4 for _, each in pairs):
            raise sqlite3.DatabaseError("positions of vectors are damaged")
        positions = np.frombuffer(b"".join([each for _, each in pairs]), "<u4").astype(np.int64)
        versions = np.repeat([version for version, _ in pairs], [len(each) // 4 for _, each in pairs]).astype(np.int64)
        slots = table.find(versions)
        alive = slots >= 0
        if (positions[alive] >= table.counts[slots[alive]]).any():
            raise sqlite3.DatabaseError("vectors of chunks that do not exist")
        held[table.first_rows[slots[alive]] + positions[alive]] = True
        return cls(table, model, newest, held)
