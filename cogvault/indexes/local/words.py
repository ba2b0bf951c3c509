"""Writing the words of cards: vocabulary, counters, and each card's words in reading order."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cogvault.indexes.local import codec
from cogvault.indexes.local.schema import COUNTER_PAGE, GRAM, STEM, many
from cogvault.text.tokens import grams, stem
from cogvault.types import IntArray

_BATCH = 500


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


def _read_batch(connection: sqlite3.Connection, versions: Sequence[int]) -> Iterator[CardWords]:
    rows = connection.execute(
        """SELECT cards.version, chunks, shape, content, forward.checksum FROM cards
        JOIN forward ON forward.version = cards.version
        WHERE cards.version IN (SELECT value FROM json_each(?))""",
        (many(versions),),
    ).fetchall()
    if len(rows) < len(versions):
        raise sqlite3.DatabaseError("the words of a card are missing")
    for version, _, _, content, expected in rows:
        if codec.checksum(content) != expected:
            raise sqlite3.DatabaseError(f"the words of card version {version} are damaged")
    ids = [codec.join_words([codec.unpack_words(content)]) for _, _, _, content, _ in rows]
    forms = dict(
        connection.execute(
            "SELECT id, form FROM words WHERE id IN (SELECT value FROM json_each(?))",
            (many(np.unique(np.concatenate(ids)).tolist()),),
        )
    )
    for (version, chunks, shape, _, _), own in zip(rows, ids, strict=True):
        try:
            words = [forms[word] for word in own.tolist()]
        except KeyError as error:
            raise sqlite3.DatabaseError(f"word {error} of card version {version} is missing") from error
        ends = np.cumsum(codec.decode_shapes([shape], np.array([chunks])).lengths).tolist()
        yield CardWords(version, [words[a:b] for a, b in zip([0, *ends], ends, strict=False)])


def add(connection: sqlite3.Connection, cards: Sequence[CardWords], next_word: int) -> int:
    """Store the words of new cards.

    Args:
        connection: in a write transaction.
        cards: the new cards.
        next_word: the next free word id.

    Returns:
        The next free word id.
    """
    forms = dict.fromkeys(chain.from_iterable(chain.from_iterable(card.chunks for card in cards)))
    ids = _ids(connection, forms)
    new = [form for form in forms if form not in ids]
    ids.update(zip(new, range(next_word, next_word + len(new)), strict=True))
    connection.executemany("INSERT INTO words (id, form) VALUES (?, ?)", [(ids[form], form) for form in new])
    joined = by_member((ids[form], form) for form in new)
    connection.executemany(
        """INSERT INTO members (kind, text, words) VALUES (?, ?, ?)
        ON CONFLICT (kind, text) DO UPDATE SET words = CAST(words || excluded.words AS BLOB)""",
        [(*key, np.array(words, "<u4").tobytes()) for key, words in sorted(joined.items())],
    )
    for card in cards:
        own = np.fromiter((ids[word] for chunk in card.chunks for word in chunk), np.int64)
        content = codec.encode_words(own)
        connection.execute(
            "INSERT INTO forward (version, content, checksum) VALUES (?, ?, ?)",
            (card.version, content, codec.checksum(content)),
        )
    return next_word + len(new)


def count(connection: sqlite3.Connection, born: Iterable[CardWords], dead: Iterable[CardWords], sequence: int) -> None:
    """Move the counters of words from dead cards to born ones; both must still be stored.

    Args:
        connection: in a write transaction.
        born: cards that now count.
        dead: cards that no longer do.
        sequence: the change that does it.
    """
    chunks, cards = tally(born)
    for total, less in zip((chunks, cards), tally(dead), strict=True):
        total.subtract(less)
    changed = [form for form in chunks.keys() | cards.keys() if chunks[form] or cards[form]]
    ids = _ids(connection, changed)
    pages: defaultdict[int, list[str]] = defaultdict(list)
    for form in changed:
        pages[ids[form] // COUNTER_PAGE].append(form)
    for page, forms in sorted(pages.items()):
        row = connection.execute("SELECT content FROM counters WHERE page = ?", (page,)).fetchone()
        counters = np.zeros((2, COUNTER_PAGE), np.int64)
        if row is not None:
            counters[:] = np.frombuffer(row[0], "<u4").reshape(2, COUNTER_PAGE)
        slots = [ids[form] % COUNTER_PAGE for form in forms]
        counters[0, slots] += [chunks[form] for form in forms]
        counters[1, slots] += [cards[form] for form in forms]
        connection.execute(
            "INSERT OR REPLACE INTO counters (page, changed, content) VALUES (?, ?, ?)",
            (page, sequence, np.maximum(counters, 0).astype("<u4").tobytes()),
        )


def forget(connection: sqlite3.Connection, versions: Sequence[int]) -> None:
    """Delete the words of dead cards: their reading order, and the vocabulary that no living card holds.

    Args:
        connection: in a write transaction.
        versions: dead cards that no longer count.
    """
    for start in range(0, len(versions), _BATCH):
        batch = many(versions[start : start + _BATCH])
        contents = connection.execute(
            "SELECT content FROM forward WHERE version IN (SELECT value FROM json_each(?))", (batch,)
        )
        held = np.unique(codec.join_words([codec.unpack_words(content) for (content,) in contents]))
        idle = _idle(connection, held)
        gone = connection.execute(
            "SELECT id, form FROM words WHERE id IN (SELECT value FROM json_each(?))", (many(idle),)
        ).fetchall()
        connection.executemany("DELETE FROM words WHERE id = ?", [(word,) for word in idle])
        for (kind, text), ids in sorted(by_member(gone).items()):
            _leave(connection, kind, text, ids)
        connection.execute("DELETE FROM forward WHERE version IN (SELECT value FROM json_each(?))", (batch,))


def _leave(connection: sqlite3.Connection, kind: int, text: str, ids: Sequence[int]) -> None:
    """Take words out of a stem's or gram's list."""
    row = connection.execute("SELECT words FROM members WHERE kind = ? AND text = ?", (kind, text)).fetchone()
    if row is None:
        return
    words = np.frombuffer(row[0], "<u4")
    kept = words[~np.isin(words, np.array(ids, np.uint32))]
    if len(kept):
        connection.execute(
            "UPDATE members SET words = ? WHERE kind = ? AND text = ?", (kept.astype("<u4").tobytes(), kind, text)
        )
    else:
        connection.execute("DELETE FROM members WHERE kind = ? AND text = ?", (kind, text))


def _idle(connection: sqlite3.Connection, words: IntArray) -> list[int]:
    """Those of some word ids that no chunk holds."""
    idle: list[int] = []
    for page in np.unique(words // COUNTER_PAGE).tolist():
        row = connection.execute("SELECT content FROM counters WHERE page = ?", (page,)).fetchone()
        slots = words[words // COUNTER_PAGE == page] % COUNTER_PAGE
        counts = np.zeros(COUNTER_PAGE, np.uint32) if row is None else np.frombuffer(row[0], "<u4", COUNTER_PAGE)
        idle.extend((page * COUNTER_PAGE + slots[counts[slots] == 0]).tolist())
    return idle


def _ids(connection: sqlite3.Connection, forms: Iterable[str]) -> dict[str, int]:
    """Ids of those words that are in the vocabulary."""
    return dict(
        connection.execute("SELECT form, id FROM words WHERE form IN (SELECT value FROM json_each(?))", (many(forms),))
    )


def by_member(words: Iterable[tuple[int, str]]) -> Mapping[tuple[int, str], list[int]]:
    """Word ids by stem and by gram: ``(kind, text)``."""
    found: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for word, form in words:
        found[STEM, stem(form)].append(word)
        for gram in grams(form):
            found[GRAM, gram].append(word)
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
