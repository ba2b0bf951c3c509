"""The words of the index: how often each occurs, and which words each card holds.

Query terms become sets of words here, and are then counted in the words of candidates (counting.py).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from cogvault.indexes import bm25
from cogvault.indexes.local import codec
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.codec import WordArray
from cogvault.indexes.local.counting import Place, ResolvedTerms
from cogvault.indexes.local.keys import ASKED, Keys
from cogvault.indexes.local.schema import COUNTER_PAGE, State, many
from cogvault.text.tokens import STEM_LENGTH
from cogvault.types import IntArray, Term, TermKind

_WORDS = "SELECT form, id FROM words WHERE key IN (SELECT value FROM json_each(?))"
_MEMBERS = "SELECT key, id, words FROM members WHERE key IN (SELECT value FROM json_each(?))"
_FORWARD = "SELECT version, content, checksum FROM forward WHERE version IN (SELECT value FROM json_each(?))"
# Of words that are kept from one query to the next.
_CAPACITY_BYTES = 24 * 2**20
_NO_WORDS: WordArray = np.empty(0, np.uint32)
_Key: TypeAlias = tuple[TermKind, str]
# Words of terms that are kept from one query to the next, and what a term costs beside its words.
_KEPT_WORDS = 2**20
_KEPT_ENTRY = 64

_COUNTERS = "SELECT page, changed, content FROM counters WHERE changed > ?"


class _Known(NamedTuple):
    """What a term is in one vocabulary.

    Attributes:
        members: ids of the words that count for it.
        place: field of the keyword part, and number there; None = it does not occur.
        chunks: sum of ``log_absence`` of its words in chunks.
        cards: the same in cards.
    """

    members: WordArray
    place: Place | None
    chunks: int
    cards: int


class Vocabulary:
    """How many chunks and cards hold each word, at one sequence number.

    Args:
        counts: (2, vocabulary) uint32: chunks, and cards, that hold each word.
        changed: the newest change in them.
        table: the cards.
        keys: of the catalog.
    """

    def __init__(self, counts: npt.NDArray[np.uint32], changed: int, table: CardTable, keys: Keys) -> None:
        self._counts = counts
        self._changed = changed
        self._table = table
        self._keys = keys
        # Questions share terms, and neither counts nor members change in one vocabulary.
        self._known: dict[_Key, _Known] = {}
        self._kept = 0

    @classmethod
    def refreshed(
        cls, last: Vocabulary | None, connection: sqlite3.Connection, state: State, table: CardTable
    ) -> Vocabulary:
        """What this connection sees.

        Args:
            last: an earlier one, None = none.
            connection: to the catalog.
            state: as it sees it.
            table: the cards.
        """
        if last is None:
            last = cls(np.zeros((2, 0), np.uint32), -1, table, Keys(state.uuid, ASKED))
        rows = connection.execute(_COUNTERS, (last._changed,)).fetchall()
        if last._table is table and not rows:
            return last
        pages = -(-state.next_word // COUNTER_PAGE)
        counts = np.zeros((2, pages * COUNTER_PAGE), np.uint32)
        counts[:, : last._counts.shape[1]] = last._counts
        for page, _, content in rows:
            start = page * COUNTER_PAGE
            counts[:, start : start + COUNTER_PAGE] = np.frombuffer(content, "<u4").reshape(2, COUNTER_PAGE)
        return cls(counts, max([last._changed, *(changed for _, changed, _ in rows)]), table, last._keys)

    @cached_property
    def _chunk_absence(self) -> IntArray:
        return bm25.log_absence(self._counts[0], self._table.chunks)

    @cached_property
    def _card_absence(self) -> IntArray:
        return bm25.log_absence(self._counts[1], len(self._table.cards))

    def resolve(self, connection: sqlite3.Connection, terms: Sequence[Term]) -> ResolvedTerms:
        """Look terms up; the connection must be in the view's transaction."""
        asked = [(term.kind, term.text) for term in terms]
        known = self._known
        held = [known.get(key) for key in asked]
        found = self._look_up(connection, [key for key, one in zip(asked, held, strict=True) if one is None])
        own = [one or found[key] for key, one in zip(asked, held, strict=True)]
        self._keep(found)
        chunks, cards = np.array([one.chunks for one in own], np.int64), np.array([one.cards for one in own], np.int64)
        return ResolvedTerms.of(
            [one.members for one in own],
            [one.place for one in own],
            (bm25.frequencies(chunks, self._table.chunks), bm25.frequencies(cards, len(self._table.cards))),
            self._counts.shape[1],
        )

    def _look_up(self, connection: sqlite3.Connection, terms: Sequence[_Key]) -> dict[_Key, _Known]:
        if not terms:
            return {}
        members, places = _members(connection, terms, self._keys)
        words = np.concatenate(members)
        ends = np.cumsum([len(own) for own in members], dtype=np.int64)
        chunks, cards = (_sums(absence[words], ends) for absence in (self._chunk_absence, self._card_absence))
        return dict(zip(terms, map(_Known, members, places, chunks, cards), strict=True))

    def _keep(self, found: dict[_Key, _Known]) -> None:
        self._kept += sum(len(one.members) + _KEPT_ENTRY for one in found.values())
        if self._kept > _KEPT_WORDS:
            # A new dict: other threads may be reading the old one.
            self._known, self._kept = {}, 0
        else:
            self._known.update(found)


def _members(
    connection: sqlite3.Connection, terms: Sequence[_Key], keys: Keys
) -> tuple[list[WordArray], list[Place | None]]:
    """Ids of the words that count for each term, and where the keyword part has it."""
    members: list[WordArray] = [_NO_WORDS] * len(terms)
    places: list[Place | None] = [None] * len(terms)
    # The keyword part has a word that is shorter than a stem as a word only.
    exact = {text: n for n, (kind, text) in enumerate(terms) if kind is TermKind.EXACT}
    stems = [(n, text) for n, (kind, text) in enumerate(terms) if kind is TermKind.STEM]
    short = {text: n for n, text in stems if len(text) < STEM_LENGTH}
    for form, word in connection.execute(_WORDS, (many(map(keys.word, exact.keys() | short.keys())),)):
        for n in (exact.get(form), short.get(form)):
            if n is not None:
                members[n] = np.array([word], np.uint32)
                places[n] = "exact", word
    longer = {keys.stem(text): n for n, text in stems if len(text) >= STEM_LENGTH}
    longer.update((keys.gram(text), n) for n, (kind, text) in enumerate(terms) if kind is TermKind.GRAM)
    for key, id, words in connection.execute(_MEMBERS, (many(longer),)):
        n = longer[key]
        members[n] = np.frombuffer(words, "<u4")
        places[n] = terms[n][0].value, id
    return members, places


def _sums(values: IntArray, ends: IntArray) -> list[int]:
    """Sums of runs of values, one run up to each end."""
    totals = np.concatenate([[0], np.cumsum(values)])[ends]
    sums: list[int] = np.diff(totals, prepend=0).tolist()
    return sums


class WordCache:
    """Words of the cards last looked at. A card version never changes, so views of any age share it."""

    def __init__(self) -> None:
        self._size = 0
        self._held: dict[int, codec.PackedWords] = {}

    def read(self, connection: sqlite3.Connection, versions: Sequence[int]) -> IntArray:
        """Word ids of all chunks of some cards, card after card.

        Raises:
            sqlite3.DatabaseError: a row is missing or damaged.
        """
        return codec.join_words(self._packed(connection, versions))

    def read_parts(
        self, connection: sqlite3.Connection, versions: Sequence[int], first: IntArray, end: IntArray
    ) -> IntArray:
        """Word ids of parts of cards, part after part.

        Args:
            connection: to the catalog.
            versions: (n,) the card of each part; one may have several.
            first: (n,) where the part starts in its card's words.
            end: (n,) where it ends.

        Raises:
            sqlite3.DatabaseError: a row is missing or damaged.
        """
        cards = self._packed(connection, versions)
        return codec.join_words(map(codec.cut_words, cards, first.tolist(), end.tolist()))

    def _packed(self, connection: sqlite3.Connection, versions: Sequence[int]) -> list[codec.PackedWords]:
        held = self._held
        found = _forward(connection, [version for version in versions if version not in held])
        try:
            words = [held.get(version) or found[version] for version in versions]
        except KeyError as error:
            raise sqlite3.DatabaseError(f"the words of card version {error} are missing") from error
        self._keep(found)
        return words

    def _keep(self, found: dict[int, codec.PackedWords]) -> None:
        self._size += sum(len(short) + len(long) for short, long in found.values())
        if self._size > _CAPACITY_BYTES:
            # A new dict: other threads may be reading the old one.
            self._held, self._size = {}, 0
        else:
            self._held.update(found)


def _forward(connection: sqlite3.Connection, versions: Sequence[int]) -> dict[int, codec.PackedWords]:
    found: dict[int, codec.PackedWords] = {}
    if not versions:
        return found
    for version, content, expected in connection.execute(_FORWARD, (many(versions),)):
        if codec.checksum(content) != expected:
            raise sqlite3.DatabaseError(f"the words of card version {version} are damaged")
        found[version] = codec.unpack_words(content)
    return found
