"""Changes to rows: one change set is one transaction of the catalog."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cogvault.indexes import int8
from cogvault.indexes.infos import check_batch
from cogvault.indexes.local import codec, words
from cogvault.indexes.local.keys import KeptKeys, Keys
from cogvault.indexes.local.rows import card_checksum
from cogvault.indexes.local.schema import (
    NEVER,
    TEXT_BLOCK,
    State,
    many,
    mark_change,
    new_mark,
    read_state,
    transaction,
    write_state,
)
from cogvault.indexes.local.vectors import CardVectors
from cogvault.indexes.local.words import CardWords
from cogvault.text.tokens import words as analyze
from cogvault.types import CardLayers, CardRecord, ChangeSet, IndexIdentity, Stamp, VectorBatch

_TEXTS = "SELECT content, checksum FROM texts WHERE chunk >= ? AND chunk < ? ORDER BY chunk"


@dataclass(frozen=True, slots=True)
class Analyzed:
    """A record with the words of each of its chunks."""

    record: CardRecord
    words: tuple[list[str], ...]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A card version in the catalog."""

    version: int
    chunks: int


def analyzed(records: Sequence[CardRecord]) -> list[Analyzed]:
    """The slow part of a change, done before any lock is taken."""
    return [Analyzed(record, tuple(analyze(chunk.terms_text) for chunk in record.chunks)) for record in records]


def commit(connection: sqlite3.Connection, change: ChangeSet, records: Sequence[Analyzed], kept: KeptKeys) -> State:
    """Apply a change in one transaction.

    Args:
        connection: to the catalog, for writing.
        change: the change; its ``put`` is taken from ``records``.
        records: what to put, one record for each id.
        kept: keys of the catalog.

    Returns:
        The state after it. When its ``lexical`` is its ``sequence``, the keyword part has to follow.

    Raises:
        IndexFault: vectors that do not fit; nothing changed.
    """
    with transaction(connection):
        state = read_state(connection)
        sequence, keys = state.sequence + 1, kept.of(state.uuid)
        gone = _alive(connection, [*change.remove, *(each.record.card.id for each in records)])
        state = replace(state, sequence=sequence, mark=new_mark())
        mark_change(connection, state)
        born, known, state = _put(connection, records, state, keys)
        if gone or born:
            connection.executemany(
                "UPDATE cards SET dead = ? WHERE version = ?", [(sequence, card.version) for card in gone]
            )
            dead = words.read(connection, [card.version for card in gone])
            words.count(connection, born, dead, sequence, keys, known)
            _inherit(connection, gone, records, born, sequence)
            state = replace(state, lexical=sequence, stamped=sequence)
        if _restamp(connection, change.restamp, sequence):
            state = replace(state, stamped=sequence)
        if change.identity is not None:
            state = replace(state, identity=codec.encode_identity(change.identity))
            _drop_others(connection, change.identity.model)
        if change.vectors is not None:
            _add_vectors(connection, change.vectors, state.decoded_identity(), sequence)
        write_state(connection, state)
    return state


def purge(connection: sqlite3.Connection, reached: int, kept: KeptKeys) -> bool:
    """Delete what died until ``reached``, which the keyword part has reached, and publish that; True = some did."""
    with transaction(connection):
        state = replace(read_state(connection), published=reached)
        dead = [
            _Stored(*row)
            for row in connection.execute(
                "SELECT version, chunks FROM cards WHERE dead <= ? AND dead < ?", (reached, NEVER)
            )
        ]
        words.forget(connection, [card.version for card in dead], kept.of(state.uuid))
        connection.executemany(
            "DELETE FROM texts WHERE chunk >= ? AND chunk < ?",
            [(card.version, card.version + card.chunks) for card in dead],
        )
        versions = many(card.version for card in dead)
        for table in ("layers", "cards"):
            connection.execute(f"DELETE FROM {table} WHERE version IN (SELECT value FROM json_each(?))", (versions,))
        connection.execute(
            """DELETE FROM vectors WHERE model IN (SELECT id FROM models)
            AND version IN (SELECT value FROM json_each(?))""",
            (versions,),
        )
        write_state(connection, state)
    return bool(dead)


def _alive(connection: sqlite3.Connection, ids: Sequence[str]) -> list[_Stored]:
    """Living versions of cards, in the order of ``ids``."""
    found = {
        id: _Stored(version, chunks)
        for id, version, chunks in connection.execute(
            "SELECT id, version, chunks FROM cards WHERE dead = ? AND id IN (SELECT value FROM json_each(?))",
            (NEVER, many(ids)),
        )
    }
    return [found[id] for id in dict.fromkeys(ids) if id in found]


def _put(
    connection: sqlite3.Connection, records: Sequence[Analyzed], state: State, keys: Keys
) -> tuple[list[CardWords], Mapping[str, int], State]:
    """Add cards; gives their words, the ids of those, and the state with the ids that are free now."""
    born: list[CardWords] = []
    known: Mapping[str, int] = {}
    version = state.next_chunk
    for each in records:
        _put_card(connection, each, version, state.sequence)
        born.append(CardWords(version, each.words))
        version += len(each.words)
    if born:
        free, known = words.add(connection, born, words.FreeIds(state.next_word, state.next_member), keys)
        state = replace(state, next_chunk=version, next_word=free.word, next_member=free.member)
    return born, known, state


def _put_card(connection: sqlite3.Connection, each: Analyzed, version: int, sequence: int) -> None:
    record, stamp = each.record, each.record.stamp
    shape = codec.encode_shape(
        codec.Shape(
            np.array([len(own) for own in each.words], np.uint32),
            np.array([bool(chunk.embed_text) for chunk in record.chunks], np.bool_),
        )
    )
    card = codec.encode_card(record.card)
    connection.execute(
        """INSERT INTO cards (version, id, born, changed, chunks, size, mtime_ns, inode, ctime_ns, hash, card, shape,
        checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            version,
            record.card.id,
            sequence,
            sequence,
            len(record.chunks),
            *_stamp(stamp),
            record.hash,
            card,
            shape,
            card_checksum(record.card.id, stamp, record.hash, card, shape),
        ),
    )
    for start in range(0, len(record.chunks), TEXT_BLOCK):
        content = codec.encode_chunks(record.chunks[start : start + TEXT_BLOCK])
        connection.execute("INSERT INTO texts VALUES (?, ?, ?)", (version + start, content, codec.checksum(content)))
    content = codec.encode_layers(CardLayers(record.abstract, record.overview, record.layers_hash))
    connection.execute("INSERT INTO layers VALUES (?, ?, ?)", (version, content, codec.checksum(content)))


def _restamp(connection: sqlite3.Connection, stamps: Mapping[str, Stamp], sequence: int) -> bool:
    """New stamps of living cards; True when there was one."""
    rows = connection.execute(
        """SELECT version, id, hash, card, shape FROM cards
        WHERE dead = ? AND id IN (SELECT value FROM json_each(?))""",
        (NEVER, many(stamps)),
    ).fetchall()
    connection.executemany(
        """UPDATE cards SET changed = ?, size = ?, mtime_ns = ?, inode = ?, ctime_ns = ?, checksum = ?
        WHERE version = ?""",
        [
            (sequence, *_stamp(stamps[id]), card_checksum(id, stamps[id], hash, card, shape), version)
            for version, id, hash, card, shape in rows
        ],
    )
    return bool(rows)


def _stamp(stamp: Stamp) -> tuple[int, int, int, int]:
    return stamp.size, stamp.mtime_ns, stamp.inode, stamp.ctime_ns


def _inherit(
    connection: sqlite3.Connection,
    gone: Sequence[_Stored],
    records: Sequence[Analyzed],
    born: Sequence[CardWords],
    sequence: int,
) -> None:
    """Give chunks of new cards the vectors of equal texts in the cards that go."""
    models = connection.execute("SELECT id, dim FROM models").fetchall()
    if not (gone and born and models):
        return
    texts = {card.version: _embed_texts(connection, card) for card in gone}
    for model, dim in models:
        rows: dict[str, tuple[int, int8.Int8Array]] = {}
        for card in gone:
            held = _read_vectors(connection, model, dim, card.version)
            for position, square, row in zip(held.positions.tolist(), held.squares.tolist(), held.rows, strict=True):
                rows.setdefault(texts[card.version][position], (square, row))
        for each, made in zip(records, born, strict=True):
            known = [chunk for chunk in each.record.chunks if chunk.embed_text in rows]
            if known:
                vectors = CardVectors(
                    np.array([chunk.position for chunk in known], np.uint32),
                    np.array([rows[chunk.embed_text][0] for chunk in known], np.uint32),
                    np.array([rows[chunk.embed_text][1] for chunk in known], np.int8),
                )
                _write_vectors(connection, model, made.version, vectors, sequence)


def _embed_texts(connection: sqlite3.Connection, card: _Stored) -> list[str]:
    found: list[str] = []
    for content, expected in connection.execute(_TEXTS, (card.version, card.version + card.chunks)):
        if codec.checksum(content) != expected:
            raise sqlite3.DatabaseError(f"the text of card version {card.version} is damaged")
        found.extend(chunk.embed_text for chunk in codec.decode_chunks(content))
    return found


def _drop_others(connection: sqlite3.Connection, model: str) -> None:
    connection.execute("DELETE FROM vectors WHERE model IN (SELECT id FROM models WHERE fingerprint != ?)", (model,))
    connection.execute("DELETE FROM models WHERE fingerprint != ?", (model,))


def _add_vectors(connection: sqlite3.Connection, batch: VectorBatch, identity: IndexIdentity, sequence: int) -> None:
    known = connection.execute("SELECT id, dim FROM models WHERE fingerprint = ?", (batch.model,)).fetchone()
    check_batch(batch, identity, known[1] if known else 0)
    dim = batch.vectors.shape[1]
    model = known[0] if known else _add_model(connection, batch.model, dim)
    rows = int8.quantise(batch.vectors)
    squares = int8.squares(rows)
    places: dict[int, dict[int, int]] = {}
    card = _Stored(0, 0)
    for place in np.argsort(batch.chunks, kind="stable").tolist():
        chunk = int(batch.chunks[place])
        if not card.version <= chunk < card.version + card.chunks:
            row = connection.execute(
                "SELECT version, chunks FROM cards WHERE version <= ? AND dead = ? ORDER BY version DESC LIMIT 1",
                (chunk, NEVER),
            ).fetchone()
            card = _Stored(*row) if row else _Stored(0, 0)
        if card.version <= chunk < card.version + card.chunks:
            places.setdefault(card.version, {}).setdefault(chunk - card.version, place)
    for version, own in places.items():
        held = _read_vectors(connection, model, dim, version)
        new = [position for position in own if position not in set(held.positions.tolist())]
        chosen = [own[position] for position in new]
        both = CardVectors(
            np.concatenate([held.positions, np.array(new, np.uint32)]),
            np.concatenate([held.squares, squares[chosen].astype(np.uint32)]),
            np.concatenate([held.rows, rows[chosen]]),
        )
        if new:
            _write_vectors(connection, model, version, both, sequence)


def _add_model(connection: sqlite3.Connection, fingerprint: str, dim: int) -> int:
    cursor = connection.execute("INSERT INTO models (fingerprint, dim) VALUES (?, ?)", (fingerprint, dim))
    return int(cursor.lastrowid or 0)


def _read_vectors(connection: sqlite3.Connection, model: int, dim: int, version: int) -> CardVectors:
    row = connection.execute(
        "SELECT positions, content, checksum FROM vectors WHERE model = ? AND version = ?", (model, version)
    ).fetchone()
    if row is None:
        return CardVectors(np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty((0, dim), np.int8))
    if codec.checksum(row[0], row[1]) != row[2]:
        raise sqlite3.DatabaseError(f"the vectors of card version {version} are damaged")
    return CardVectors.decode(row[0], row[1], dim)


def _write_vectors(
    connection: sqlite3.Connection, model: int, version: int, vectors: CardVectors, sequence: int
) -> None:
    connection.execute("DELETE FROM vectors WHERE model = ? AND version = ?", (model, version))
    content = vectors.encode()
    connection.execute(
        "INSERT INTO vectors (model, version, changed, positions, content, checksum) VALUES (?, ?, ?, ?, ?, ?)",
        (model, version, sequence, *content, codec.checksum(*content)),
    )
