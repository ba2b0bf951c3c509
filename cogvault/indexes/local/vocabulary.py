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
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.codec import WordArray
from cogvault.indexes.local.counting import Place, ResolvedTerms
from cogvault.indexes.local.keys import ASKED, Keys
from cogvault.indexes.local.schema import COUNTER_PAGE, State, many
from cogvault.text.tokens import STEM_LENGTH
from cogvault.types import IntArray, Term, TermKind

_WORDS = "SELECT form, id FROM words WHERE key IN (SELECT value FROM json_each(?))"
_MEMBERS = "SELECT key, id, words FROM members WHERE key IN (SELECT value FROM json_each(?))"
_NO_WORDS: WordArray = np.empty(0, np.uint32)
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


_KnownTerms: TypeAlias = dict[TermKind, dict[str, _Known]]


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
        self._known = _no_terms()
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
        known = self._known
        held = [known[term.kind].get(term.text) for term in terms]
        new = [term for term, one in zip(terms, held, strict=True) if one is None]
        if new:
            found = self._look_up(connection, new)
            self._keep(new, found)
            looked_up = iter(found)
            held = [one or next(looked_up) for one in held]
        own = [one for one in held if one is not None]
        chunks, cards = np.array([one.chunks for one in own], np.int64), np.array([one.cards for one in own], np.int64)
        return ResolvedTerms.of(
            [one.members for one in own],
            [one.place for one in own],
            (bm25.frequencies(chunks, self._table.chunks), bm25.frequencies(cards, len(self._table.cards))),
            self._counts.shape[1],
        )

    def _look_up(self, connection: sqlite3.Connection, terms: Sequence[Term]) -> list[_Known]:
        members, places = _members(connection, terms, self._keys)
        words, sizes = np.concatenate(members), np.array([len(own) for own in members], np.int64)
        chunks, cards = (_sums(absence[words], sizes) for absence in (self._chunk_absence, self._card_absence))
        return list(map(_Known, members, places, chunks, cards))

    def _keep(self, terms: Sequence[Term], found: Sequence[_Known]) -> None:
        self._kept += sum(len(one.members) + _KEPT_ENTRY for one in found)
        if self._kept > _KEPT_WORDS:
            # New dicts: other threads may be reading the old ones.
            self._known, self._kept = _no_terms(), 0
        else:
            for term, one in zip(terms, found, strict=True):
                self._known[term.kind][term.text] = one


def _no_terms() -> _KnownTerms:
    return {kind: {} for kind in TermKind}


def _members(
    connection: sqlite3.Connection, terms: Sequence[Term], keys: Keys
) -> tuple[list[WordArray], list[Place | None]]:
    """Ids of the words that count for each term, and where the keyword part has it."""
    members: list[WordArray] = [_NO_WORDS] * len(terms)
    places: list[Place | None] = [None] * len(terms)
    words: list[int] = []
    longer: dict[int, int] = {}
    for n, term in enumerate(terms):
        if term.kind is TermKind.GRAM:
            longer[keys.gram(term.text)] = n
        elif term.kind is TermKind.STEM and len(term.text) >= STEM_LENGTH:
            longer[keys.stem(term.text)] = n
        else:  # the keyword part has a word that is shorter than a stem as a word only
            words.append(n)
    ids = dict(connection.execute(_WORDS, (many(keys.word(terms[n].text) for n in words),)).fetchall())
    for n in words:
        word = ids.get(terms[n].text)
        if word is not None:
            members[n], places[n] = np.array([word], np.uint32), ("exact", word)
    for key, id, content in connection.execute(_MEMBERS, (many(longer),)):
        n = longer[key]
        members[n], places[n] = np.frombuffer(content, "<u4"), (terms[n].kind.value, id)
    return members, places


def _sums(values: IntArray, sizes: IntArray) -> list[int]:
    """Sums of runs of values, each of which has a size."""
    totals = np.zeros(len(values) + 1, np.int64)
    values.cumsum(out=totals[1:])
    ends = sizes.cumsum()
    sums: list[int] = (totals[ends] - totals[ends - sizes]).tolist()
    return sums
