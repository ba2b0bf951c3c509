"""Writing the words of cards: vocabulary, counters, and each card's words in reading order."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cogvault.indexes.local import codec
from cogvault.indexes.local.arrays import distinct
from cogvault.indexes.local.keys import Keys
from cogvault.indexes.local.schema import COUNTER_PAGE, many
from cogvault.types import IntArray

_BATCH = 500
_FIND = "SELECT form, id FROM words WHERE key IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class CardWords:
    """Words of one card: of each chunk, in reading order."""

    version: int
    chunks: Sequence[Sequence[str]]


def read(connection: sqlite3.Connection, versions: Sequence[int]) -> Iterator[CardWords]:
    """Words of cards, as the catalog holds them, some cards at a time.

    Raises:
        sqlite3.DatabaseError: a row is missing or damaged.
    """
    for start in range(0, len(versions), _BATCH):
        yield from _read_batch(connection, versions[start : start + _BATCH])


@dataclass(frozen=True, slots=True)
class CardWordIds:
    """Word ids of one card: of all chunks in reading order, and where each chunk ends in them."""

    version: int
    ids: IntArray
    ends: Sequence[int]

    def chunks(self) -> Iterator[list[int]]:
        """Word ids of each chunk."""
        ids = self.ids.tolist()
        return (ids[a:b] for a, b in zip([0, *self.ends], self.ends, strict=False))


def read_ids(connection: sqlite3.Connection, versions: Sequence[int]) -> list[CardWordIds]:
    """Word ids of some cards, as the catalog holds them.

    Raises:
        sqlite3.DatabaseError: a row is missing or damaged.
    """
    rows = connection.execute(
        """SELECT cards.version, chunks, shape, content, forward.checksum FROM cards
        JOIN forward ON forward.version = cards.version
        WHERE cards.version IN (SELECT value FROM json_each(?))""",
        (many(versions),),
    ).fetchall()
    if len(rows) < len(versions):
        raise sqlite3.DatabaseError("the words of a card are missing")
    found: list[CardWordIds] = []
    for version, chunks, shape, content, expected in rows:
        if codec.checksum(content) != expected:
            raise sqlite3.DatabaseError(f"the words of card version {version} are damaged")
        lengths = codec.decode_shapes([shape], np.array([chunks])).lengths
        ids = codec.join_words([codec.unpack_words(content)])
        found.append(CardWordIds(version, ids, np.cumsum(lengths).tolist()))
    return found


def forms(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Those of some word ids that are in the vocabulary, with what they stand for."""
    return dict(
        connection.execute("SELECT id, form FROM words WHERE id IN (SELECT value FROM json_each(?))", (many(ids),))
    )


def member_ids(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, int]:
    """Numbers of stems and grams by their keys."""
    return dict(
        connection.execute("SELECT key, id FROM members WHERE key IN (SELECT value FROM json_each(?))", (many(keys),))
    )


def _read_batch(connection: sqlite3.Connection, versions: Sequence[int]) -> Iterator[CardWords]:
    cards = read_ids(connection, versions)
    known = forms(connection, distinct(np.concatenate([card.ids for card in cards])).tolist())
    for card in cards:
        try:
            yield CardWords(card.version, [[known[id] for id in chunk] for chunk in card.chunks()])
        except KeyError as error:
            raise sqlite3.DatabaseError(f"word {error} of card version {card.version} is missing") from error


@dataclass(frozen=True, slots=True)
class FreeIds:
    """The next free id of a word, and of a stem or gram. None is ever used again."""

    word: int
    member: int


def add(
    connection: sqlite3.Connection, cards: Sequence[CardWords], free: FreeIds, keys: Keys
) -> tuple[FreeIds, Mapping[str, int]]:
    """Store the words of new cards.

    Args:
        connection: in a write transaction.
        cards: the new cards.
        free: ids to use.
        keys: of the catalog.

    Returns:
        What is free after that, and the ids of the cards' words.
    """
    found = dict.fromkeys(chain.from_iterable(chain.from_iterable(card.chunks for card in cards)))
    ids = _ids(connection, found, keys)
    new = [form for form in found if form not in ids]
    ids.update(zip(new, range(free.word, free.word + len(new)), strict=True))
    connection.executemany(
        "INSERT INTO words (id, key, form) VALUES (?, ?, ?)", [(ids[form], keys.word(form), form) for form in new]
    )
    joined = sorted(by_member(((ids[form], form) for form in new), keys).items())
    connection.executemany(
        """INSERT INTO members (key, id, words) VALUES (?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET words = CAST(words || excluded.words AS BLOB)""",
        [(key, free.member + n, np.array(own, "<u4").tobytes()) for n, (key, own) in enumerate(joined)],
    )
    for card in cards:
        own = np.fromiter(map(ids.__getitem__, chain.from_iterable(card.chunks)), np.int64)
        content = codec.encode_words(own)
        connection.execute(
            "INSERT INTO forward (version, content, checksum) VALUES (?, ?, ?)",
            (card.version, content, codec.checksum(content)),
        )
    return FreeIds(free.word + len(new), free.member + len(joined)), ids


def count(
    connection: sqlite3.Connection,
    born: Iterable[CardWords],
    dead: Iterable[CardWords],
    sequence: int,
    keys: Keys,
    known: Mapping[str, int],
) -> None:
    """Move the counters of words from dead cards to born ones; both must still be stored.

    Args:
        connection: in a write transaction.
        born: cards that now count.
        dead: cards that no longer do.
        sequence: the change that does it.
        keys: of the catalog.
        known: ids of the words of the born.
    """
    chunks, cards = tally(born)
    for total, less in zip((chunks, cards), tally(dead), strict=True):
        total.subtract(less)
    changed = {form for form in chunks.keys() | cards.keys() if chunks[form] or cards[form]}
    ids = {**known, **_ids(connection, changed - known.keys(), keys)}
    pages: defaultdict[int, list[str]] = defaultdict(list)
    for form in changed:
        pages[ids[form] // COUNTER_PAGE].append(form)
    for page, own in sorted(pages.items()):
        row = connection.execute("SELECT content FROM counters WHERE page = ?", (page,)).fetchone()
        counters = np.zeros((2, COUNTER_PAGE), np.int64)
        if row is not None:
            counters[:] = np.frombuffer(row[0], "<u4").reshape(2, COUNTER_PAGE)
        slots = [ids[form] % COUNTER_PAGE for form in own]
        counters[0, slots] += [chunks[form] for form in own]
        counters[1, slots] += [cards[form] for form in own]
        connection.execute(
            "INSERT OR REPLACE INTO counters (page, changed, content) VALUES (?, ?, ?)",
            (page, sequence, np.maximum(counters, 0).astype("<u4").tobytes()),
        )


def forget(connection: sqlite3.Connection, versions: Sequence[int], keys: Keys) -> None:
    """Delete the words of dead cards: their reading order, and the vocabulary that no living card holds.

    Args:
        connection: in a write transaction.
        versions: dead cards that no longer count.
        keys: of the catalog.
    """
    for start in range(0, len(versions), _BATCH):
        batch = many(versions[start : start + _BATCH])
        contents = connection.execute(
            "SELECT content FROM forward WHERE version IN (SELECT value FROM json_each(?))", (batch,)
        )
        held = distinct(codec.join_words([codec.unpack_words(content) for (content,) in contents]))
        idle = _idle(connection, held)
        gone = forms(connection, idle)
        connection.executemany("DELETE FROM words WHERE id = ?", [(word,) for word in idle])
        for key, ids in sorted(by_member(gone.items(), keys).items()):
            _leave(connection, key, ids)
        connection.execute("DELETE FROM forward WHERE version IN (SELECT value FROM json_each(?))", (batch,))


def _leave(connection: sqlite3.Connection, key: int, ids: Sequence[int]) -> None:
    """Take words out of a stem's or gram's list."""
    row = connection.execute("SELECT words FROM members WHERE key = ?", (key,)).fetchone()
    if row is None:
        return
    words = np.frombuffer(row[0], "<u4")
    kept = words[~np.isin(words, np.array(ids, np.uint32))]
    if len(kept):
        connection.execute("UPDATE members SET words = ? WHERE key = ?", (kept.astype("<u4").tobytes(), key))
    else:
        connection.execute("DELETE FROM members WHERE key = ?", (key,))


def _idle(connection: sqlite3.Connection, words: IntArray) -> list[int]:
    """Those of some word ids that no chunk holds."""
    idle: list[int] = []
    for page in distinct(words // COUNTER_PAGE).tolist():
        row = connection.execute("SELECT content FROM counters WHERE page = ?", (page,)).fetchone()
        slots = words[words // COUNTER_PAGE == page] % COUNTER_PAGE
        counts = np.zeros(COUNTER_PAGE, np.uint32) if row is None else np.frombuffer(row[0], "<u4", COUNTER_PAGE)
        idle.extend((page * COUNTER_PAGE + slots[counts[slots] == 0]).tolist())
    return idle


def _ids(connection: sqlite3.Connection, texts: Collection[str], keys: Keys) -> dict[str, int]:
    """Ids of those words that are in the vocabulary."""
    found = connection.execute(_FIND, (many(map(keys.word, texts)),))
    # A hash may be another word's as well.
    return {form: id for form, id in found if form in texts}


def by_member(words: Iterable[tuple[int, str]], keys: Keys) -> Mapping[int, list[int]]:
    """Word ids by the key of each stem and of each gram; a word that is shorter than a stem has none."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for word, form in words:
        own, pieces = keys.members(form)
        for key in pieces if own is None else (own, *pieces):
            found[key].append(word)
    return found


def tally(cards: Iterable[CardWords]) -> tuple[Counter[str], Counter[str]]:
    """In how many of the chunks, and of the cards, each word is."""
    in_chunks: Counter[str] = Counter()
    in_cards: Counter[str] = Counter()
    for card in cards:
        distinct = [set(chunk) for chunk in card.chunks]
        for words in distinct:
            in_chunks.update(words)
        in_cards.update(set().union(*distinct))
    return in_chunks, in_cards
