"""Chunks as the keyword engine gets them: numbers in place of words, stems and grams.

What a number stands for is written in the catalog alone. When no card holds a word any more it is deleted there, and
the number, which is never used again, says nothing: no deleted word can be read from the engine's files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from cogvault.indexes.local import words
from cogvault.indexes.local.arrays import distinct
from cogvault.indexes.local.keys import Keys
from cogvault.indexes.local.lexical import Document

_BATCH = 500


def documents(connection: sqlite3.Connection, versions: Sequence[int], keys: Keys) -> Iterator[Document]:
    """All chunks of some cards, card after card.

    Args:
        connection: to the catalog.
        versions: of the cards.
        keys: of the catalog.

    Raises:
        sqlite3.DatabaseError: a row is missing or damaged.
    """
    streams = _Streams(connection, keys)
    for start in range(0, len(versions), _BATCH):
        cards = words.read_ids(connection, versions[start : start + _BATCH])
        streams.learn(distinct(np.concatenate([card.ids for card in cards])).tolist())
        for card in cards:
            for position, own in enumerate(card.chunks()):
                yield streams.document(card.version + position, card.version, own)


class _Streams:
    """Words to the engine's three token streams, each distinct word looked up once."""

    def __init__(self, connection: sqlite3.Connection, keys: Keys) -> None:
        self._connection = connection
        self._keys = keys
        self._exact: dict[int, str] = {}
        self._stems: dict[int, str] = {}
        self._grams: dict[int, str] = {}

    def learn(self, ids: Sequence[int]) -> None:
        """Look up what is not known of some words."""
        new = words.forms(self._connection, [id for id in ids if id not in self._exact])
        members = {id: self._keys.members(form) for id, form in new.items()}
        stems = {id: key for id, (key, _) in members.items() if key is not None}
        pieces = {id: own for id, (_, own) in members.items()}
        numbers = words.member_ids(self._connection, {*stems.values(), *chain.from_iterable(pieces.values())})
        try:
            self._exact.update((id, str(id)) for id in new)
            self._stems.update((id, str(numbers[key])) for id, key in stems.items())
            self._grams.update((id, " ".join([str(numbers[key]) for key in own])) for id, own in pieces.items())
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
