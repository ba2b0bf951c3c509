"""Chunks as the keyword engine gets them: numbers in place of words, stems and grams.

What a number stands for is written in the catalog alone. When no card holds a word any more it is deleted there, and
the number, which is never used again, says nothing: no deleted word can be read from the engine's files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from cogvault.indexes.local import words
from cogvault.indexes.local.lexical import Document
from cogvault.indexes.local.schema import GRAM, STEM
from cogvault.text.tokens import STEM_LENGTH, grams, stem

_BATCH = 500


def documents(connection: sqlite3.Connection, versions: Sequence[int]) -> Iterator[Document]:
    """All chunks of some cards, card after card.

    Raises:
        sqlite3.DatabaseError: a row is missing or damaged.
    """
    streams = _Streams(connection)
    for start in range(0, len(versions), _BATCH):
        cards = words.read_ids(connection, versions[start : start + _BATCH])
        streams.learn(np.unique(np.concatenate([card.ids for card in cards])).tolist())
        for card in cards:
            for position, own in enumerate(card.chunks()):
                yield streams.document(card.version + position, card.version, own)


class _Streams:
    """Words to the engine's three token streams, each distinct word looked up once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._exact: dict[int, str] = {}
        self._stems: dict[int, str] = {}
        self._grams: dict[int, str] = {}

    def learn(self, ids: Sequence[int]) -> None:
        """Look up what is not known of some words."""
        new = words.forms(self._connection, [id for id in ids if id not in self._exact])
        stems = {id: stem(form) for id, form in new.items() if len(form) >= STEM_LENGTH}
        pieces = {id: grams(form) for id, form in new.items()}
        of_stem = words.member_ids(self._connection, STEM, set(stems.values()))
        of_gram = words.member_ids(self._connection, GRAM, {gram for own in pieces.values() for gram in own})
        try:
            self._exact.update((id, str(id)) for id in new)
            self._stems.update((id, str(of_stem[text])) for id, text in stems.items())
            self._grams.update((id, " ".join([str(of_gram[gram]) for gram in own])) for id, own in pieces.items())
        except KeyError as error:
            raise sqlite3.DatabaseError(f"stem or gram {error} is missing") from error

    def document(self, chunk: int, version: int, ids: Sequence[int]) -> Document:
        exact, stems, pieces = self._exact, self._stems, self._grams
        try:
            return Document(
                chunk,
                version,
                " ".join([exact[id] for id in ids]),
                " ".join([stems[id] for id in ids if id in stems]),
                " ".join([pieces[id] for id in ids]),
            )
        except KeyError as error:
            raise sqlite3.DatabaseError(f"word {error} of chunk {chunk} is missing") from error
