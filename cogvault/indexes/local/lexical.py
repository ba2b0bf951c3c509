"""The keyword part: a tantivy index of the chunks' words, stems and grams by number, derived from the catalog.

One document holds the catalog's uuid and the sequence number that the rest reflects. It is replaced in the same commit
as the rest, so that after a kill at any instant the index itself says which changes it has seen.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import tantivy

from cogvault.indexes import bm25
from cogvault.indexes.local.heap import give_back
from cogvault.indexes.local.mapped import MappedBudget
from cogvault.indexes.local.segments import Stamps, faults, file_stamp, overwritten, stamps, sweep
from cogvault.types import FloatArray, IntArray

# With less, tantivy's indexing thread dies: "index writer was killed".
_HEAP_BYTES = 64 * 10**6
# Between two times at which freed memory goes back to the system. A process that commits without a pause holds 35 MB
# more for it.
_GIVE_BACK_SECONDS = 1.0
_VERSION = 4
# The files of a million chunks are five times as large.
_MAPPED_BYTES = 128 * 2**20
# Frequencies of grams would hardly be missed, but a single term without them makes tantivy read all postings of all
# terms, where it otherwise skips what cannot be among the best.
_OPTIONS = {"exact": "freq", "stem": "freq", "gram": "freq", "mark": "basic"}


class LexicalDamaged(Exception):
    """The keyword folder is missing, broken, or not this catalog's."""


@dataclass(frozen=True, slots=True)
class Document:
    """One chunk as the engine gets it.

    Attributes:
        chunk: its id.
        version: of its card.
        exact: numbers of its words in reading order, with blanks between.
        stem: numbers of their stems.
        gram: numbers of their grams.
    """

    chunk: int
    version: int
    exact: str
    stem: str
    gram: str


class Wanted(NamedTuple):
    """One term of a query.

    Attributes:
        field: to look in.
        number: to look for.
        weight: of the term.
        idf: how much its rarity counts among all chunks that are there.
    """

    field: str
    number: int
    weight: float
    idf: float


class Side(Enum):
    """Which side of a filter is spelled out to the engine."""

    ONLY = "only"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Restriction:
    """Card versions that a search is limited to, or spares."""

    side: Side
    versions: Sequence[int]


class LexicalView:
    """One state of the keyword part; later commits do not change it.

    Attributes:
        sequence: the change that it reflects.
        documents: chunks in it.
        ghosts: deleted chunks whose numbers still are in the files.
    """

    def __init__(
        self,
        searcher: tantivy.Searcher,
        schema: tantivy.Schema,
        uuid: str,
        files: Stamps,
        opened: _Opened,
    ) -> None:
        self._searcher = searcher
        self._opened = opened
        self._is_large = sum(size for size, _, _ in files.values()) > _MAPPED_BYTES
        self._schema = schema
        self._files = files
        marks = searcher.search(self._term("mark", _mark_text(uuid)), limit=2, count=False).hits
        if len(marks) != 1:
            raise LexicalDamaged(f"{len(marks)} sequence marks for catalog {uuid}")
        # All that is asked of a view without a search is read here: later the files may have been cut off.
        self.sequence = int(searcher.fast_field_values("chunk", [marks[0][1]])[0] or 0)
        self.documents = int(searcher.num_docs) - 1
        # Every chunk and no mark has this value in its field.
        self.ghosts = int(searcher.doc_freq("every", 1)) - self.documents

    def check(self) -> None:
        """To be called before files are looked into.

        They are mapped into memory: whoever writes into them changes what is found, and tantivy does not notice; and
        reading beyond the end of one that was cut off ends the process.

        Raises:
            LexicalDamaged: one was overwritten or cut off.
        """
        if name := overwritten(self._files):
            raise LexicalDamaged(f"{name} was overwritten")

    def search(
        self, terms: Sequence[Wanted], limit: int, restriction: Restriction | None
    ) -> tuple[IntArray, FloatArray]:
        """The ``limit`` chunks with the best weighted BM25: ids and scores, best first, equal scores in no order.

        Args:
            terms: what to look for.
            limit: how many.
            restriction: cards to look in, None = all.
        """
        self.check()
        limit = min(limit, self.documents)
        if limit <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        with _engine():
            found = self._best(self._searcher, terms, limit, restriction)
        if self._is_large:  # while nobody here holds a searcher any more, so that the old mapping ends
            self._opened.lighten(self)
        return found

    def _best(
        self, searcher: tantivy.Searcher, terms: Sequence[Wanted], limit: int, restriction: Restriction | None
    ) -> tuple[IntArray, FloatArray]:
        weights = self._corrected(searcher, terms)
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(self._term(term.field, str(term.number)), weight))
            for term, weight in zip(terms, weights, strict=True)
        ]
        query = tantivy.Query.boolean_query(clauses)
        if restriction is not None:
            query = self._restricted(query, restriction)
        hits = searcher.search(query, limit=limit, count=False).hits
        chunks = searcher.fast_field_values("chunk", [place for _, place in hits])
        return np.array(chunks, np.int64), np.array([score for score, _ in hits], np.float32)

    def _corrected(self, searcher: tantivy.Searcher, terms: Sequence[Wanted]) -> list[float]:
        """Weights with which the engine's idf, of what its files hold, comes to what it should be.

        The engine counts deleted chunks too, knows nothing of those that wait, and how many hold a stem or gram is an
        estimate elsewhere: what it proposes has to be the best by that.
        """
        everything = int(searcher.doc_freq("every", 1)) + 1  # with the mark
        common = [float(searcher.doc_freq(term.field, str(term.number))) for term in terms]
        wanted = np.array([term.weight * term.idf for term in terms])
        corrected: list[float] = (wanted / bm25.idf(np.array(common), everything)).tolist()
        return corrected

    def take(self, searcher: tantivy.Searcher, files: Stamps) -> bool:
        """Search by another searcher from now on, if the files it was made of are this state's."""
        if files != self._files:
            return False
        self._searcher = searcher
        return True

    def holds(self, field: str, number: int) -> bool:
        """True when a word, stem or gram is in the files, if only in a deleted chunk."""
        return int(self._searcher.doc_freq(field, str(number))) > 0

    def ids(self) -> IntArray:
        """Ids of all chunks, in no order."""
        self.check()
        if not self.documents:
            return np.empty(0, np.int64)
        with _engine():
            hits = self._searcher.search(self._term("every", 1), limit=self.documents, count=False).hits
            return np.array(self._searcher.fast_field_values("chunk", [place for _, place in hits]), np.int64)

    def _term(self, name: str, value: str | int) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, name, value, _OPTIONS.get(name, "basic"))

    def _restricted(self, query: tantivy.Query, restriction: Restriction) -> tantivy.Query:
        cards = tantivy.Query.term_set_query(self._schema, "card", list(restriction.versions))
        if restriction.side is Side.NOT:
            return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.MustNot, cards)])
        silent = tantivy.Query.const_score_query(cards, 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, silent)])


class _Opened:
    """A keyword folder as tantivy has it open, whose mapped files weigh no more than a budget."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mapped = MappedBudget(_MAPPED_BYTES)
        self._lightening = Lock()
        self.index = open_folder(folder)

    def lighten(self, view: LexicalView) -> None:
        """Map the files of a view anew when they weigh too much; it takes a millisecond."""
        if not self._mapped.is_exceeded() or not self._lightening.acquire(blocking=False):
            return
        try:
            # Without it the view goes on as it is, and soon another takes its place.
            with suppress(LexicalDamaged), _engine():
                index = open_folder(self._folder)
                if view.take(index.searcher(), stamps(self._folder)):
                    self.index = index
            self._mapped.settle()
        finally:
            self._lightening.release()


class _Held(NamedTuple):
    """A state that was loaded, and the stamp that the list of its segments had before."""

    view: LexicalView
    meta: tuple[int, int, int] | None


class Lexical:
    """A keyword folder.

    Args:
        folder: where it is.
        uuid: the catalog it belongs to.

    Raises:
        LexicalDamaged: from any method: the folder is not usable and has to be rebuilt.
    """

    def __init__(self, folder: Path, uuid: str) -> None:
        self.folder = folder
        self._uuid = uuid
        self._meta = str(folder / "meta.json")
        self._given_back = float("-inf")
        with _engine():
            for fault in faults(folder):
                raise LexicalDamaged(fault)
            self._opened = _Opened(folder)
        self._held = self._loaded()

    @classmethod
    def create(cls, folder: Path, uuid: str) -> Lexical:
        """Make an empty one, at sequence 0, in an empty folder or one that is not there."""
        with _engine():
            folder.mkdir(mode=0o700, exist_ok=True)
            index = tantivy.Index(_schema(), str(folder), reuse=False)
            writer = index.writer(_HEAP_BYTES, 1)
            writer.add_document(_mark(uuid, 0))
            writer.commit()
            writer.wait_merging_threads()
        return cls(folder, uuid)

    @property
    def view(self) -> LexicalView:
        """The state last loaded."""
        return self._held.view

    def follow(self) -> None:
        """Load the newest committed state, unless it is loaded: each commit replaces the list of segments."""
        if file_stamp(self._meta) != self._held.meta:
            self.reload()

    def reload(self) -> None:
        """Load the newest committed state."""
        self.view.check()
        self._held = self._loaded()

    def _loaded(self) -> _Held:
        meta = file_stamp(self._meta)  # first, so that no later commit passes for loaded
        with _engine():
            index = self._opened.index
            index.reload()
            files = stamps(self.folder)
            return _Held(LexicalView(index.searcher(), index.schema, self._uuid, files, self._opened), meta)

    def write(self, dead: Sequence[int], documents: Iterable[Document], sequence: int, threads: int) -> None:
        """Delete and add chunks in one commit, then load it.

        Args:
            dead: card versions whose chunks go.
            documents: chunks to add; an exception of theirs passes through.
            sequence: the change that the result reflects.
            threads: threads that index.
        """
        self.view.check()
        with _engine():
            sweep(self.folder)
            writer = self._opened.index.writer(_HEAP_BYTES * threads, threads)
        try:
            with _engine():
                # By query: delete_documents_by_term does nothing for numbers (tantivy 0.27).
                schema = self._opened.index.schema
                if dead:
                    writer.delete_documents_by_query(tantivy.Query.term_set_query(schema, "card", list(dead)))
                writer.delete_documents_by_query(
                    tantivy.Query.term_query(schema, "mark", _mark_text(self._uuid), _OPTIONS["mark"])
                )
                writer.add_document(_mark(self._uuid, sequence))
            for document in documents:
                with _engine():
                    writer.add_document(_row(document))
            with _engine():
                writer.commit()
        finally:
            # Unfinished merges would be lost, and small segments pile up.
            with _engine():
                writer.wait_merging_threads()
        del writer
        # What is given back is asked for again by the next commit, which takes 5 ms more for that.
        if time.monotonic() - self._given_back > _GIVE_BACK_SECONDS:
            give_back()
            self._given_back = time.monotonic()
        self.reload()


def open_folder(folder: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual")
    return index


def _row(document: Document) -> tantivy.Document:
    row = tantivy.Document()
    row.add_text("exact", document.exact)
    row.add_text("stem", document.stem)
    row.add_text("gram", document.gram)
    row.add_unsigned("chunk", document.chunk)
    row.add_unsigned("card", document.version)
    row.add_unsigned("every", 1)
    return row


def _mark_text(uuid: str) -> str:
    """Another version is another folder: it is built anew."""
    return f"{uuid}-{_VERSION}"


def _mark(uuid: str, sequence: int) -> tantivy.Document:
    row = tantivy.Document()
    row.add_text("mark", _mark_text(uuid))
    row.add_unsigned("chunk", sequence)
    return row


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("exact", "stem", "gram"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option=_OPTIONS[name])
    builder.add_text_field("mark", tokenizer_name="raw", index_option=_OPTIONS["mark"])
    builder.add_unsigned_field("chunk", fast=True)
    builder.add_unsigned_field("card", indexed=True)
    builder.add_unsigned_field("every", indexed=True)
    return builder.build()


@contextmanager
def _engine() -> Iterator[None]:
    """Whatever tantivy raises on a broken index, as one error."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        raise LexicalDamaged(str(error)) from error
    except BaseException as error:
        # A Rust panic arrives as pyo3's PanicException, which cannot be imported and is no Exception.
        if type(error).__name__ == "PanicException":
            raise LexicalDamaged(str(error)) from error
        raise
