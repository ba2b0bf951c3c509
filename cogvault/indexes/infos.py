"""What an index remembers of a card record. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

from cogvault.errors import IndexFault
from cogvault.types import Card, CardInfo, CardRecord, ChunkKind, IndexIdentity, Stamp, VectorBatch

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""From which stamps count."""
_SHARED = tuple({f.name for f in fields(Card)} & {f.name for f in fields(CardInfo)} - {"dated"})


def mtime(stamp: Stamp) -> datetime:
    """The stamp's modification time, cut to microseconds."""
    return EPOCH + timedelta(microseconds=stamp.mtime_ns // 1000)


def card_info(record: CardRecord) -> CardInfo:
    """The record without its texts."""
    card = record.card
    return CardInfo(
        dated=card.dated or mtime(record.stamp),
        stamp=record.stamp,
        hash=record.hash,
        chunks=len(record.chunks),
        **{name: getattr(card, name) for name in _SHARED},
    )


def restamped(info: CardInfo, own_date: datetime | None, stamp: Stamp) -> CardInfo:
    """The same card with another stamp; a card without a date of its own moves with its file."""
    return replace(info, stamp=stamp, dated=own_date or mtime(stamp))


def latest(put: Sequence[CardRecord]) -> list[CardRecord]:
    """The records to store: of several for one id the last, in the order of first mention.

    Raises:
        IndexFault: a record breaks the contract of ``CardRecord``.
    """
    records = list({record.card.id: record for record in put}.values())
    for record in records:
        if not _is_text(record.card.id):
            raise IndexFault("an id must be valid text", path=ascii(record.card.id))
        kinds = [chunk.kind for chunk in record.chunks]
        if kinds[:1] != [ChunkKind.HEAD] or ChunkKind.HEAD in kinds[1:]:
            raise IndexFault("chunk 0 must be the head chunk, and the only one", path=record.card.id)
        if [chunk.position for chunk in record.chunks] != list(range(len(kinds))):
            raise IndexFault("chunk positions must count from 0 without gaps", path=record.card.id)
    return records


def _is_text(id: str) -> bool:
    """False for an undecodable file name, whose bytes Python hides in lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in id)


def check_batch(batch: VectorBatch, identity: IndexIdentity, stored_dim: int) -> None:
    """Refuse vectors that cannot belong to their model.

    Args:
        batch: the rows to add.
        identity: of the index, after the change.
        stored_dim: width of the rows this model has already, 0 = none.

    Raises:
        IndexFault: shapes that do not fit each other or the rows already there.
    """
    if batch.vectors.ndim != 2 or len(batch.vectors) != len(batch.chunks) or not batch.model:
        raise IndexFault(f"a batch of {len(batch.chunks)} chunks has vectors of shape {batch.vectors.shape}")
    expected = stored_dim or (identity.dim if identity.model == batch.model else 0)
    if expected and batch.vectors.shape[1] != expected:
        raise IndexFault(
            f"vectors are {batch.vectors.shape[1]} wide, the index holds {expected} of the same model",
            hint="a model of another width needs another fingerprint",
        )
