"""The catalog's tables, and how its file is opened.

The ``version`` of a card is the id of its first chunk; its other chunks have the ids that follow, so no table of chunks
is needed. Ids are never used again. A card version is part of the view at sequence S when ``born <= S < dead``.
"""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from cogvault.indexes.local import codec
from cogvault.types import IndexIdentity

SCHEMA_VERSION = 4
TEXT_BLOCK = 8
"""Chunks in one row of ``texts``: few enough that showing one chunk does not unpack a whole book."""
COUNTER_PAGE = 512
"""Words in one row of ``counters``."""

BUSY_SECONDS = 2.0
# Rows are a few kilobytes: at this page size most of them need no overflow page.
_PAGE_BYTES = 8192
# Pages that a reading connection keeps. The system keeps all: with 250, which is what SQLite takes unasked, a search of
# 10,000 cards is no faster, and each connection of each vault holds 2 MB.
_READ_PAGES = 32
# A reader that lags behind by more changes reads everything again.
_KNOWN_CHANGES = 1000
_WAL_BYTES = 4 * 2**20
# SQLite maps its file of shared memory in portions of this size.
_SHARED_BYTES = 32 * 2**10
NEVER = 2**62
"""``dead`` of a card that lives."""

_TABLES = (
    # uuid ties the keyword folder to this catalog. lexical: the last change that put or removed cards; stamped: or
    # restamped some. published: the keyword folder has reached this one, and what died until then is purged.
    """CREATE TABLE state (
        uuid TEXT NOT NULL, sequence INTEGER NOT NULL, lexical INTEGER NOT NULL, stamped INTEGER NOT NULL,
        published INTEGER NOT NULL, keyword TEXT NOT NULL, next_chunk INTEGER NOT NULL, next_word INTEGER NOT NULL,
        next_member INTEGER NOT NULL, identity TEXT NOT NULL, mark INTEGER NOT NULL)""",
    # A catalog that was put back, or lost its log, gives the same sequence numbers again to other changes. By the
    # marks, which are random, a reader knows whether what it has read is a state that this catalog was in.
    "CREATE TABLE changes (sequence INTEGER PRIMARY KEY, mark INTEGER NOT NULL)",
    f"""CREATE TABLE cards (
        version INTEGER PRIMARY KEY, id TEXT NOT NULL, born INTEGER NOT NULL, dead INTEGER NOT NULL DEFAULT {NEVER},
        changed INTEGER NOT NULL, chunks INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, hash TEXT NOT NULL, card TEXT NOT NULL, shape BLOB NOT NULL,
        checksum INTEGER NOT NULL)""",
    "CREATE INDEX cards_id ON cards (id)",
    "CREATE INDEX cards_life ON cards (version, born, dead, changed)",
    # What changed since a reader's last view; covers what it needs to know first.
    "CREATE INDEX cards_changed ON cards (changed, born, dead)",
    f"CREATE INDEX cards_dead ON cards (dead) WHERE dead < {NEVER}",
    # By the id of the block's first chunk.
    "CREATE TABLE texts (chunk INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE layers (version INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum INTEGER NOT NULL)",
    # Word ids of all chunks of a card in reading order.
    "CREATE TABLE forward (version INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum INTEGER NOT NULL)",
    # Words lie in the order in which they came, and are found by a hash: a tree that is ordered by text moves rows
    # about, and SQLite leaves copies of moved rows in unused parts of its pages, where secure_delete misses them.
    "CREATE TABLE words (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, form TEXT NOT NULL)",
    "CREATE INDEX words_key ON words (key)",
    # Chunks and cards that hold each word of a page of ids, as two uint32 arrays.
    "CREATE TABLE counters (page INTEGER PRIMARY KEY, changed INTEGER NOT NULL, content BLOB NOT NULL)",
    "CREATE INDEX counters_changed ON counters (changed)",
    # Ids (uint32) of the words that have a stem or hold a gram, by its hash; id is its number in the keyword folder.
    "CREATE TABLE members (key INTEGER PRIMARY KEY, id INTEGER NOT NULL, words BLOB NOT NULL)",
    """CREATE TABLE models (
        id INTEGER PRIMARY KEY AUTOINCREMENT, fingerprint TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL)""",
    """CREATE TABLE vectors (
        id INTEGER PRIMARY KEY, model INTEGER NOT NULL, version INTEGER NOT NULL, changed INTEGER NOT NULL,
        positions BLOB NOT NULL, content BLOB NOT NULL, checksum INTEGER NOT NULL)""",
    "CREATE INDEX vectors_changed ON vectors (model, changed)",
    # Covers the question which chunks have a vector, which must not read the vectors.
    "CREATE INDEX vectors_held ON vectors (model, version, positions)",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


@dataclass(frozen=True, slots=True)
class State:
    """The one row of ``state``."""

    uuid: str
    sequence: int
    lexical: int
    stamped: int
    published: int
    keyword: str
    next_chunk: int
    next_word: int
    next_member: int
    identity: str
    mark: int

    @property
    def is_sound(self) -> bool:
        """False for values that were never written."""
        numbers = (self.sequence, self.lexical, self.stamped, self.published, self.next_chunk, self.next_word)
        if not all(type(number) is int for number in (*numbers, self.next_member, self.mark)):
            return False
        if not all(type(text) is str for text in (self.uuid, self.keyword, self.identity)):
            return False
        is_ordered = 0 <= self.published <= self.lexical <= self.sequence and 0 <= self.stamped <= self.sequence
        return is_ordered and min(self.next_chunk, self.next_word, self.next_member) > 0

    def decoded_identity(self) -> IndexIdentity:
        """``identity`` as a value."""
        return codec.decode_identity(self.identity)


_STATE_COLUMNS = tuple(f.name for f in fields(State))
_READ_STATE = f"SELECT {', '.join(_STATE_COLUMNS)} FROM state"
_WRITE_STATE = f"UPDATE state SET {', '.join(f'{name} = ?' for name in _STATE_COLUMNS)}"


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open the catalog.

    Args:
        path: its file.
        mode: ``rwc`` to write (made when missing), ``rw`` to read beside writers, ``ro`` or ``immutable`` where nothing
            may be written, not even the files with which SQLite coordinates.

    Raises:
        sqlite3.Error: it cannot be opened, is no database, or has another schema.
    """
    keep_shared(path)
    query = "immutable=1" if mode == "immutable" else f"mode={mode}"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if mode == "rwc":
            _prepare(connection)
        else:
            connection.execute("PRAGMA query_only = 1")
            connection.execute(f"PRAGMA cache_size = {_READ_PAGES}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError(f"schema {version}, expected {SCHEMA_VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def keep_shared(catalog: Path) -> None:
    """Give the file that SQLite maps its size back when somebody cut it off: reading beyond its end ends the process.

    To be called before an open connection is used. What is lost of that file SQLite makes anew from its log.
    """
    shared = f"{catalog}-shm"
    try:
        size = os.stat(shared).st_size  # noqa: PTH116 - called for every snapshot
        if size % _SHARED_BYTES or not size:
            os.truncate(shared, (size // _SHARED_BYTES + 1) * _SHARED_BYTES)
    except OSError:  # there is none, or none that could be mapped
        return


def _prepare(connection: sqlite3.Connection) -> None:
    # Must come before the first page is written.
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    # A commit survives a kill; a power cut may lose the newest ones, which the next sync makes again.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    # Deleted text is overwritten, not only unlinked.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA cache_size = -32000")
    with transaction(connection):
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            for statement in _TABLES:
                connection.execute(statement)
            first = State(uuid.uuid4().hex, 0, 0, 0, 0, "", 1, 1, 1, codec.encode_identity(IndexIdentity()), new_mark())
            mark_change(connection, first)
            connection.execute(
                f"INSERT INTO state ({', '.join(_STATE_COLUMNS)}) VALUES ({', '.join('?' * len(_STATE_COLUMNS))})",
                _values(first),
            )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: committed at the end, rolled back on any exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def read_state(connection: sqlite3.Connection) -> State:
    """The state at this moment, or of the open transaction.

    Raises:
        sqlite3.DatabaseError: there is none, or it is damaged.
    """
    row = connection.execute(_READ_STATE).fetchone()
    if row is None:
        raise sqlite3.DatabaseError("the state row is missing")
    state = State(*row)
    if not state.is_sound:
        raise sqlite3.DatabaseError("the state row is damaged")
    return state


def new_mark() -> int:
    """For one change, unlike any other."""
    return int.from_bytes(os.urandom(7), "little")


def mark_change(connection: sqlite3.Connection, state: State) -> None:
    """Remember that the catalog comes to this state, inside a transaction."""
    connection.execute("INSERT INTO changes (sequence, mark) VALUES (?, ?)", (state.sequence, state.mark))
    connection.execute("DELETE FROM changes WHERE sequence <= ?", (state.sequence - _KNOWN_CHANGES,))


def comes_from(connection: sqlite3.Connection, state: State, earlier: State) -> bool:
    """True when the catalog was in an earlier state, and every change since then was added to that.

    Args:
        connection: in the transaction in which ``state`` was read.
        state: as it is.
        earlier: as somebody read it.
    """
    if state.uuid != earlier.uuid or state.sequence < earlier.sequence:
        return False
    if state.sequence == earlier.sequence:
        return state.mark == earlier.mark
    mark = connection.execute("SELECT mark FROM changes WHERE sequence = ?", (earlier.sequence,)).fetchone()
    return mark is not None and mark[0] == earlier.mark


def write_state(connection: sqlite3.Connection, state: State) -> None:
    """Replace the state, inside a transaction."""
    connection.execute(_WRITE_STATE, _values(state))


def many(values: Iterable[int] | Iterable[str]) -> str:
    """Values for ``IN (SELECT value FROM json_each(?))``, which takes any number of them."""
    return json.dumps(list(values))


def _values(state: State) -> tuple[str | int, ...]:
    return tuple(getattr(state, name) for name in _STATE_COLUMNS)
