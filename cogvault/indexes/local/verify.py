"""Checking an index against itself, row by row."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from cogvault.indexes.local import codec, words
from cogvault.indexes.local.damage import MISREAD
from cogvault.indexes.local.keys import Keys
from cogvault.indexes.local.lexical import LexicalDamaged
from cogvault.indexes.local.rows import CardRow
from cogvault.indexes.local.schema import COUNTER_PAGE, TEXT_BLOCK
from cogvault.indexes.local.search import Reader
from cogvault.indexes.local.vectors import CardVectors
from cogvault.text.tokens import grams, stem

_Row = TypeVar("_Row")
_BROKEN = (LexicalDamaged, sqlite3.DatabaseError, *MISREAD)


def verify(reader: Reader) -> list[str]:
    """Each fault of what the view reads, in one sentence; none = sound."""
    found: list[str] = []
    for check in (_pages, _state, _cards, _texts, _layers, _words, _members, _vectors, _keyword):
        try:
            found.extend(check(reader))
        except _BROKEN as error:
            found.append(f"{check.__name__.removeprefix('_')}: {error}")
    return found


def _pages(reader: Reader) -> Iterator[str]:
    for (line,) in reader.connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"catalog: {line}"


def _state(reader: Reader) -> Iterator[str]:
    """Numbers that are given next: none may be in use."""
    state = reader.view.state
    for name, free, table, used in (
        ("change", state.sequence + 1, "changes", "sequence"),
        ("change", state.sequence + 1, "cards", "max(born, changed)"),
        ("chunk", state.next_chunk, "cards", "version + chunks - 1"),
        ("word", state.next_word, "words", "id"),
        ("stem or gram", state.next_member, "members", "id"),
    ):
        (last,) = reader.connection.execute(f"SELECT max({used}) FROM {table}").fetchone()
        if last is not None and last >= free:
            yield f"state: {name} {free} would be the next, and {last} is in use"
    for table, made in (("cards", "min(born, changed)"), ("counters", "changed"), ("vectors", "changed")):
        first, last = reader.connection.execute(f"SELECT min({made}), max({made}) FROM {table}").fetchone()
        if first is not None and not 0 < first <= last <= state.sequence:
            yield f"{table}: changes {first} to {last} are none of 1 to {state.sequence}"


def _cards(reader: Reader) -> Iterator[str]:
    """Rows of cards; their checksums were compared when the view read them."""
    for row in reader.view.table.rows:
        fault = _unreadable(_read_card, row)
        if fault:
            yield f"card {row.id}: its row cannot be read: {fault}"


def _texts(reader: Reader) -> Iterator[str]:
    rows = _checked(reader, "texts", "chunk")
    for card in reader.view.table.rows:
        for block in range(card.version, card.version + card.chunks, TEXT_BLOCK):
            content = rows.get(block)
            if content is None or _unreadable(codec.decode_chunks, content):
                yield f"card {card.id}: the text of chunk {block} and those after it is missing or damaged"


def _layers(reader: Reader) -> Iterator[str]:
    rows = _checked(reader, "layers", "version")
    for card in reader.view.table.rows:
        content = rows.get(card.version)
        if content is None or _unreadable(codec.decode_layers, content):
            yield f"card {card.id}: its abstract and overview are missing or damaged"


def _words(reader: Reader) -> Iterator[str]:
    """Words of each card, and the counters of each word."""
    view, connection = reader.view, reader.connection
    chunks, cards = words.tally(words.read(connection, view.table.starts.tolist()))
    if view.lexical is not None and view.waiting_cards is None:
        # A writer is between two steps: the counters are those of its change.
        return
    counters = np.zeros((2, -(-view.state.next_word // COUNTER_PAGE) * COUNTER_PAGE), np.int64)
    for page, content in connection.execute("SELECT page, content FROM counters"):
        start = page * COUNTER_PAGE
        counters[:, start : start + COUNTER_PAGE] = np.frombuffer(content, "<u4").reshape(2, COUNTER_PAGE)
    for word, form in connection.execute("SELECT id, form FROM words"):
        if counters[0, word] != chunks[form] or counters[1, word] != cards[form]:
            yield f"word {form!r}: counted in {counters[0, word]} chunks, found in {chunks[form]}"


def _members(reader: Reader) -> Iterator[str]:
    """Words of each stem and gram, and its number, which the keyword part must know and no other may have."""
    keys, lexical = Keys(reader.view.state.uuid), reader.view.lexical
    forms = reader.connection.execute("SELECT id, key, form FROM words").fetchall()
    yield from (f"word {form!r}: it cannot be found" for _, key, form in forms if key != keys.word(form))
    rows = reader.connection.execute("SELECT key, id, words FROM members").fetchall()
    held = {key: sorted(np.frombuffer(ids, "<u4").tolist()) for key, _, ids in rows}
    expected = words.by_member(((id, form) for id, _, form in forms), keys)
    texts = {keys.gram(gram): gram for _, _, form in forms for gram in grams(form)}
    texts.update({keys.stem(stem(form)): stem(form) for _, _, form in forms})
    wrong = {key for key in held.keys() | expected.keys() if held.get(key) != sorted(expected.get(key, []))}
    if lexical is not None and lexical.sequence == reader.view.state.lexical:
        lexical.check()
        once = Counter(id for _, id, _ in rows)
        wrong.update(
            key for key, id, _ in rows if once[id] > 1 or not (lexical.holds("stem", id) or lexical.holds("gram", id))
        )
    yield from (f"stem or gram {texts.get(key, key)!r}: what is known of it is wrong" for key in sorted(wrong))


def _vectors(reader: Reader) -> Iterator[str]:
    sizes = {row.version: row.chunks for row in reader.view.table.rows}
    for version, dim, positions, content, expected in reader.connection.execute(
        """SELECT version, dim, positions, content, checksum FROM vectors JOIN models ON models.id = vectors.model"""
    ):
        if codec.checksum(positions, content) != expected:
            yield f"card version {version}: its vectors are damaged"
        elif type(version) is not int or type(dim) is not int or dim < 1:
            yield f"vectors: {version!r} is no card version, or {dim!r} no length"
        elif version in sizes and (CardVectors.decode(positions, content, dim).positions >= sizes[version]).any():
            yield f"card version {version}: it has vectors of chunks that it has not"


def _keyword(reader: Reader) -> Iterator[str]:
    table, lexical = reader.view.table, reader.view.lexical
    if lexical is None:
        yield "keyword index: it is damaged"
        return
    expected = np.arange(table.chunks) + np.repeat(table.starts - table.first_rows[:-1], table.counts)
    held = np.concatenate([lexical.ids(), reader.view.waiting_chunks(reader.connection, reader.words).chunks])
    if reader.view.waiting_cards is not None and reader.view.waiting_cards.has_dead:
        held = held[table.holds(held)]
    if not np.array_equal(np.sort(held), expected):
        yield f"keyword index: it holds {lexical.documents} chunks that are not those of the catalog"


def _checked(reader: Reader, table: str, key: str) -> dict[int, bytes]:
    """Sound rows of a table."""
    rows = reader.connection.execute(f"SELECT {key}, content, checksum FROM {table}")
    return {id: content for id, content, expected in rows if codec.checksum(content) == expected}


def _read_card(row: CardRow) -> None:
    # Decoded when looked at.
    _ = row.info, codec.decode_shapes([row.shape], np.array([row.chunks]))


def _unreadable(read: Callable[[_Row], object], row: _Row) -> str:
    """What is wrong with a row that cannot be read, "" = nothing."""
    try:
        read(row)
    except _BROKEN as error:
        return str(error) or type(error).__name__
    return ""
