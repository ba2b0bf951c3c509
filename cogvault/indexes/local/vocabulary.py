"""The words of the index: how often each occurs, and which words each card holds.

Query terms become sets of words here. Words that match the same terms are one *class*: counting classes instead of
terms makes one pass over a candidate's words enough, however many terms a word has.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cogvault.indexes import bm25
from cogvault.indexes.local import codec
from cogvault.indexes.local.cards import CardTable
from cogvault.indexes.local.codec import WordArray
from cogvault.indexes.local.schema import COUNTER_PAGE, GRAM, STEM, many
from cogvault.types import FloatArray, IntArray, Term, TermKind

_WORDS = "SELECT form, id FROM words WHERE form IN (SELECT value FROM json_each(?))"
_MEMBERS = "SELECT text, words FROM members WHERE kind = ? AND text IN (SELECT value FROM json_each(?))"
_FORWARD = "SELECT version, content, checksum FROM forward WHERE version IN (SELECT value FROM json_each(?))"
_COUNTERS = "SELECT page, changed, content FROM counters WHERE changed > ?"


@dataclass(frozen=True, slots=True)
class ResolvedTerms:
    """Terms of one query in one view.

    Attributes:
        chunk_frequency: (terms,) as in ``types.Evidence``.
        card_frequency: (terms,) as in ``types.Evidence``.
        class_of: (vocabulary,) class of each word; class 0 matches nothing.
        holds: (classes, terms) float32, 1 where the words of a class count for a term.
    """

    chunk_frequency: FloatArray
    card_frequency: FloatArray
    class_of: npt.NDArray[np.int32]
    holds: FloatArray


class Vocabulary:
    """How many chunks and cards hold each word, at one sequence number.

    Args:
        counts: (2, vocabulary) uint32: chunks, and cards, that hold each word.
        changed: the newest change in them.
        table: the cards.
    """

    def __init__(self, counts: npt.NDArray[np.uint32], changed: int, table: CardTable) -> None:
        self._counts = counts
        self._changed = changed
        self._table = table

    @classmethod
    def refreshed(
        cls, last: Vocabulary | None, connection: sqlite3.Connection, size: int, table: CardTable
    ) -> Vocabulary:
        """What this connection sees.

        Args:
            last: an earlier one, None = none.
            connection: to the catalog.
            size: a number above every word id.
            table: the cards.
        """
        if last is None:
            last = cls(np.zeros((2, 0), np.uint32), -1, table)
        rows = connection.execute(_COUNTERS, (last._changed,)).fetchall()
        if last._table is table and not rows:
            return last
        pages = -(-size // COUNTER_PAGE)
        counts = np.zeros((2, pages * COUNTER_PAGE), np.uint32)
        counts[:, : last._counts.shape[1]] = last._counts
        for page, _, content in rows:
            start = page * COUNTER_PAGE
            counts[:, start : start + COUNTER_PAGE] = np.frombuffer(content, "<u4").reshape(2, COUNTER_PAGE)
        return cls(counts, max([last._changed, *(changed for _, changed, _ in rows)]), table)

    @cached_property
    def _chunk_absence(self) -> IntArray:
        return bm25.log_absence(self._counts[0], self._table.chunks)

    @cached_property
    def _card_absence(self) -> IntArray:
        return bm25.log_absence(self._counts[1], len(self._table.cards))

    def resolve(self, connection: sqlite3.Connection, terms: Sequence[Term]) -> ResolvedTerms:
        """Look terms up; the connection must be in the view's transaction."""
        members = _members(connection, terms)
        class_of, holds = _classes(members, self._counts.shape[1])
        return ResolvedTerms(
            bm25.frequencies(_sums(self._chunk_absence, members), self._table.chunks),
            bm25.frequencies(_sums(self._card_absence, members), len(self._table.cards)),
            class_of,
            holds,
        )


def _members(connection: sqlite3.Connection, terms: Sequence[Term]) -> list[WordArray]:
    """Ids of the words that count for each term."""
    members: list[WordArray] = [np.empty(0, np.uint32)] * len(terms)
    place = {(term.kind, term.text): n for n, term in enumerate(terms)}
    exact = many(term.text for term in terms if term.kind is TermKind.EXACT)
    for form, word in connection.execute(_WORDS, (exact,)):
        members[place[TermKind.EXACT, form]] = np.array([word], np.uint32)
    for kind, code in ((TermKind.STEM, STEM), (TermKind.GRAM, GRAM)):
        texts = many(term.text for term in terms if term.kind is kind)
        for text, words in connection.execute(_MEMBERS, (code, texts)):
            members[place[kind, text]] = np.frombuffer(words, "<u4")
    return members


def _sums(values: IntArray, members: Sequence[WordArray]) -> IntArray:
    return np.array([values[words].sum() for words in members], np.int64)


def _classes(members: Sequence[WordArray], vocabulary: int) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Refine one class of all words by one term after another."""
    class_of = np.zeros(vocabulary, np.int32)
    holds = [np.zeros(len(members), np.float32)]
    for term, words in enumerate(members):
        old = class_of[words]
        renamed = np.zeros(len(holds), np.int32)
        for present in np.flatnonzero(np.bincount(old, minlength=len(holds))).tolist():
            renamed[present] = len(holds)
            row = holds[present].copy()
            row[term] = 1
            holds.append(row)
        class_of[words] = renamed[old]
    return class_of, np.array(holds)


@dataclass(frozen=True, slots=True)
class TermTotals:
    """Running totals of each class over consecutive chunks.

    Attributes:
        totals: (chunks + 1, classes) occurrences in all chunks before this one.
        terms: what was counted.
    """

    totals: IntArray
    terms: ResolvedTerms

    @classmethod
    def of(cls, words: WordArray, lengths: IntArray, terms: ResolvedTerms) -> TermTotals:
        """Count.

        Args:
            words: word ids of the chunks, one chunk after another.
            lengths: (chunks,) words in each.
            terms: what to count.
        """
        classes = len(terms.holds)
        found = terms.class_of[words]
        hits = np.flatnonzero(found)
        chunk = np.repeat(np.arange(len(lengths)), lengths)[hits]
        counts = np.bincount(chunk * classes + found[hits], minlength=len(lengths) * classes)
        totals = np.zeros((len(lengths) + 1, classes), np.int64)
        np.cumsum(counts.reshape(len(lengths), classes), axis=0, out=totals[1:])
        return cls(totals, terms)

    def between(self, first: IntArray, end: IntArray) -> FloatArray:
        """(n, terms) how often each term stands in the chunks from ``first`` (n,) up to, without, ``end`` (n,)."""
        return np.asarray((self.totals[end] - self.totals[first]).astype(np.float32) @ self.terms.holds)


class WordCache:
    """Words of the cards last looked at. A card version never changes, so views of any age share it.

    Args:
        capacity_bytes: it starts anew beyond that.
    """

    def __init__(self, capacity_bytes: int = 16 * 2**20) -> None:
        self._capacity = capacity_bytes
        self._size = 0
        self._held: dict[int, bytes] = {}

    def read(self, connection: sqlite3.Connection, versions: Sequence[int]) -> WordArray:
        """Word ids of all chunks of some cards, card after card.

        Raises:
            sqlite3.DatabaseError: a row is missing or damaged.
        """
        held = self._held
        found = _forward(connection, [version for version in versions if version not in held])
        try:
            words = codec.decode_words([held.get(version) or found[version] for version in versions])
        except KeyError as error:
            raise sqlite3.DatabaseError(f"the words of card version {error} are missing") from error
        self._keep(found)
        return words

    def _keep(self, found: dict[int, bytes]) -> None:
        self._size += sum(map(len, found.values()))
        if self._size > self._capacity:
            # A new dict: other threads may be reading the old one.
            self._held, self._size = {}, 0
        else:
            self._held.update(found)


def _forward(connection: sqlite3.Connection, versions: Sequence[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    if not versions:
        return found
    for version, content, expected in connection.execute(_FORWARD, (many(versions),)):
        if codec.checksum(content) != expected:
            raise sqlite3.DatabaseError(f"the words of card version {version} are damaged")
        found[version] = content
    return found
