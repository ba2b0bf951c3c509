"""Rows of the catalog to values and back. Pure.

Nothing here runs code from the file (no pickle): a catalog is data, whoever wrote it.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cogvault.indexes.local.arrays import ranges
from cogvault.types import (
    EMPTY_META,
    Card,
    CardInfo,
    CardLayers,
    Chunk,
    ChunkKind,
    IndexIdentity,
    IntArray,
    Link,
    LinkKind,
    Problem,
    Stamp,
)

WordArray: TypeAlias = npt.NDArray[np.uint32]

PackedWords: TypeAlias = tuple[bytes, bytes]

# Word ids from here on do not fit 16 bits: the short stream holds this mark, the long stream the id.
LONG = 0xFFFF
_DATES = frozenset({"created", "updated", "valid_from", "valid_until", "dated"})
_TUPLES = frozenset({"tags", "aliases", "supersedes", "superseded_by"})
_STORED = tuple(f for f in fields(Card) if f.name not in {"id", "body", "body_line"})


def checksum(*parts: bytes) -> int:
    """CRC-32 over some bytes."""
    value = 0
    for part in parts:
        value = zlib.crc32(part, value)
    return value


def encode_card(card: Card) -> str:
    """Everything of a card but id and body, as JSON; what has its default value is left out."""
    row: dict[str, Any] = {}
    for f in _STORED:
        value = getattr(card, f.name)
        if f.name == "meta":
            row[f.name] = dict(value)
        elif f.default is not MISSING and value == f.default:
            continue
        elif f.name in _DATES:
            row[f.name] = value.isoformat()
        elif f.name == "links":
            row[f.name] = [(x.target, x.kind, x.line, x.heading, x.block, x.text) for x in value]
        elif f.name == "problems":
            row[f.name] = [(x.path, x.code, x.message, x.line, x.key) for x in value]
        else:
            row[f.name] = value
    return json.dumps(row, separators=(",", ":"))


def decode_path(row: str) -> str:
    """The path in a row by ``encode_card``."""
    path: str = json.loads(row)["path"]
    return path


def decode_card(row: str, *, id: str, stamp: Stamp, hash: str, chunks: int, mtime: datetime) -> CardInfo:
    """A row by ``encode_card`` as the index shows it; ``mtime`` is used when the card has no date of its own."""
    values: dict[str, Any] = json.loads(row)
    for name in _DATES & values.keys():
        values[name] = datetime.fromisoformat(values[name])
    for name in _TUPLES & values.keys():
        values[name] = tuple(values[name])
    values.setdefault("dated", mtime)
    # One object for what most cards have alike: a vault may have a hundred thousand.
    if values["path"] == id:
        values["path"] = id
    if values.get("type"):
        values["type"] = sys.intern(values["type"])
    values["meta"] = MappingProxyType(_meta(values)) if values["meta"] else EMPTY_META
    values["links"] = tuple(Link(t, LinkKind(k), *rest) for t, k, *rest in values.get("links", ()))
    values["problems"] = tuple(Problem(*each) for each in values.get("problems", ()))
    return CardInfo(id=id, stamp=stamp, hash=hash, chunks=chunks, **values)


def _meta(values: dict[str, Any]) -> dict[str, Any]:
    """Frontmatter whose keys are shared with other cards, and whose title and type with the card itself."""
    title, type = values["title"], values.get("type")
    shared = {title: title, type: type}
    return {
        sys.intern(key): shared.get(value, value) if isinstance(value, str) else value
        for key, value in values["meta"].items()
    }


def encode_layers(layers: CardLayers) -> bytes:
    """Abstract, overview and their hash, compressed."""
    return zlib.compress(json.dumps([layers.abstract, layers.overview, layers.hash]).encode())


def decode_layers(content: bytes) -> CardLayers:
    """Reverse of ``encode_layers``."""
    return CardLayers(*json.loads(zlib.decompress(content)))


def encode_chunks(chunks: Sequence[Chunk]) -> bytes:
    """Some chunks of one card, compressed; texts that repeat ``text`` are stored as what stands around it."""
    rows = [
        (
            chunk.position,
            chunk.kind,
            chunk.text,
            _around(chunk.terms_text, chunk.text),
            _around(chunk.embed_text, chunk.text),
            chunk.start_line,
            chunk.end_line,
            chunk.heading,
            chunk.speaker,
            None if chunk.at is None else chunk.at.isoformat(),
        )
        for chunk in chunks
    ]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode())


def decode_chunks(content: bytes, places: Iterable[int] | None = None) -> list[Chunk]:
    """Reverse of ``encode_chunks``.

    Args:
        content: the row.
        places: which of its chunks, counted from 0; None = all.

    Raises:
        IndexError: it has no such chunk.
    """
    rows = json.loads(zlib.decompress(content))
    return [_chunk(*row) for row in (rows if places is None else map(rows.__getitem__, places))]


def _chunk(
    position: int,
    kind: str,
    text: str,
    terms: str | list[str],
    embed: str | list[str],
    start: int,
    end: int,
    heading: list[str],
    speaker: str | None,
    at: str | None,
) -> Chunk:
    return Chunk(
        position,
        ChunkKind(kind),
        text,
        _whole(terms, text),
        _whole(embed, text),
        start,
        end,
        tuple(heading),
        speaker,
        None if at is None else datetime.fromisoformat(at),
    )


def _around(text: str, inner: str) -> str | tuple[str, str]:
    place = text.find(inner) if inner else -1
    return text if place < 0 else (text[:place], text[place + len(inner) :])


def _whole(stored: str | list[str], inner: str) -> str:
    return stored if isinstance(stored, str) else inner.join(stored)


@dataclass(frozen=True, slots=True)
class Shape:
    """How cards are cut: (chunks,) words in each chunk, and whether each should have a vector."""

    lengths: WordArray
    embeddable: npt.NDArray[np.bool_]


def encode_shape(shape: Shape) -> bytes:
    """Of one card: four bytes a chunk, then one bit a chunk."""
    return shape.lengths.astype("<u4").tobytes() + np.packbits(shape.embeddable).tobytes()


def decode_shapes(contents: Sequence[bytes], chunks: IntArray) -> Shape:
    """Reverse of ``encode_shape`` for many cards at once, one card after another.

    Args:
        contents: their rows.
        chunks: (cards,) how many chunks each has.

    Raises:
        ValueError: a row is not of this form.
    """
    ends = (4 * chunks).tolist()
    lengths = b"".join([content[:end] for content, end in zip(contents, ends, strict=True)])
    bits = b"".join([content[end:] for content, end in zip(contents, ends, strict=True)])
    filled = (chunks + 7) // 8 * 8
    flags = np.unpackbits(np.frombuffer(bits, np.uint8))
    if len(flags) != filled.sum():
        raise ValueError("the shape of a card is cut off")
    return Shape(np.frombuffer(lengths, "<u4"), flags[ranges(np.cumsum(filled) - filled, chunks)].astype(np.bool_))


def encode_words(ids: IntArray) -> bytes:
    """Word ids in reading order: mostly two bytes each, because the usual words came first and have low ids."""
    long = ids >= LONG
    short = np.where(long, LONG, ids).astype("<u2")
    return len(ids).to_bytes(4, "little") + short.tobytes() + ids[long].astype("<u4").tobytes()


def unpack_words(content: bytes) -> PackedWords:
    """A row by ``encode_words`` as its short and its long stream."""
    end = 4 + 2 * int.from_bytes(content[:4], "little")
    return content[4:end], content[end:]


def join_words(packed: Iterable[PackedWords]) -> IntArray:
    """Word ids of several rows, one row after another.

    Raises:
        ValueError: a row is not of this form.
    """
    rows = list(packed)
    short = np.frombuffer(b"".join([short for short, _ in rows]), "<u2")
    ids = short.astype(np.int64)
    long = np.frombuffer(b"".join([long for _, long in rows]), "<u4")
    if len(long):
        ids[short == LONG] = long
    return ids


def encode_identity(identity: IndexIdentity) -> str:
    """As JSON."""
    return json.dumps({f.name: getattr(identity, f.name) for f in fields(IndexIdentity)})


def decode_identity(row: str) -> IndexIdentity:
    """Reverse of ``encode_identity``; keys of other versions are ignored.

    Raises:
        sqlite3.DatabaseError: it is damaged.
    """
    known = {f.name for f in fields(IndexIdentity)}
    try:
        return IndexIdentity(**{key: value for key, value in json.loads(row).items() if key in known})
    except (ValueError, AttributeError, RecursionError) as error:
        raise sqlite3.DatabaseError(f"the identity of the index is damaged: {error}") from error
