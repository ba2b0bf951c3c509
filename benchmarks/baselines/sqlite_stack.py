"""The usual local stack, as a baseline: SQLite FTS5 with ``bm25()``, vectors in sqlite-vec (else a numpy scan), RRF."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import sqlite_vec

from cogvault.types import FloatArray

LIMIT = 50
RRF_K = 60
_WORD = re.compile(r"\w+")


class SqliteStack:
    """Chunks in one SQLite file.

    Args:
        path: the file.
        dim: width of the vectors.
    """

    def __init__(self, path: Path, dim: int) -> None:
        self._db = sqlite3.connect(path)
        self.vec = self._load_vec()
        self._matrix: FloatArray | None = None
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, tokenize='unicode61')")
        if self.vec:
            self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(embedding float[{dim}])")
        else:
            self._db.execute("CREATE TABLE IF NOT EXISTS vectors (rowid INTEGER PRIMARY KEY, embedding BLOB)")
        self._dim = dim

    def _load_vec(self) -> bool:
        try:
            self._db.enable_load_extension(True)
            sqlite_vec.load(self._db)
        except (AttributeError, sqlite3.OperationalError):
            return False
        return True

    def add(self, texts: Sequence[str], vectors: FloatArray) -> None:
        """Add chunks with their vectors."""
        with self._db:
            for text, vector in zip(texts, vectors, strict=True):
                row = self._db.execute("INSERT INTO texts (text) VALUES (?)", (text,)).lastrowid
                self._db.execute("INSERT INTO vectors (rowid, embedding) VALUES (?, ?)", (row, vector.tobytes()))

    def search(self, query: str, vector: FloatArray, k: int = 5) -> list[tuple[float, str]]:
        """The ``k`` best texts by reciprocal rank fusion."""
        fused: dict[int, float] = {}
        for ranked in (self._keyword(query), self._semantic(vector)):
            for rank, row in enumerate(ranked):
                fused[row] = fused.get(row, 0.0) + 1 / (RRF_K + 1 + rank)
        best = sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:k]
        return [
            (score, self._db.execute("SELECT text FROM texts WHERE rowid = ?", (row,)).fetchone()[0])
            for row, score in best
        ]

    def _keyword(self, query: str) -> list[int]:
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(query)))
        if not expression:
            return []
        rows = self._db.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?", (expression, LIMIT)
        )
        return [row for (row,) in rows]

    def _semantic(self, vector: FloatArray) -> list[int]:
        if self.vec:
            rows = self._db.execute(
                "SELECT rowid FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance",
                (vector.tobytes(), LIMIT),
            )
            return [row for (row,) in rows]
        if self._matrix is None:
            blobs = self._db.execute("SELECT embedding FROM vectors ORDER BY rowid")
            self._matrix = np.frombuffer(b"".join(blob for (blob,) in blobs), np.float32).reshape(-1, self._dim)
        similarity = self._matrix @ vector
        best = np.argpartition(-similarity, min(LIMIT, len(similarity) - 1))[:LIMIT]
        return [int(place) + 1 for place in best[np.argsort(-similarity[best])]]

    def close(self) -> None:
        """Close the file."""
        self._db.close()
