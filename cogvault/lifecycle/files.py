"""What writers do with a card's file before they change it, and when they cannot go on."""

from __future__ import annotations

import contextlib
from pathlib import Path

from cogvault.cards.regular import read_regular
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.config import Config
from cogvault.errors import CardError, CogvaultError, ConflictError
from cogvault.lifecycle.uris import Located

__all__ = ["check_size", "put_back", "read_bytes", "refuse_link", "taken"]


def read_bytes(card: Located) -> bytes:
    """All bytes of a card's file.

    Raises:
        CardError: it cannot be read.
    """
    try:
        return read_regular(card.file)
    except OSError as error:
        raise CardError(f"cannot be read: {error.strerror}", path=card.path) from error


def refuse_link(card: Located) -> None:
    """Refuse a card that is a symbolic link: moved, it could lead elsewhere, and deleted, its text would stay.

    Raises:
        CardError: it is one.
    """
    if card.file.is_symlink():
        message = "the card is a symbolic link; cogvault edits what it leads to and leaves the link where it is"
        raise CardError(message, path=card.path, hint="move or delete the link yourself")


def check_size(data: bytes, config: Config) -> None:
    """Refuse a card that would not be read whole again.

    Raises:
        CardError: it is larger than ``max_card_bytes``.
    """
    if len(data) > config.max_card_bytes:
        message = f"the card would have {len(data)} bytes, and {config.max_card_bytes} are read"
        raise CardError(message, hint="split it")


def put_back(file: Path, before: bytes, after: bytes) -> None:
    """Undo a write, unless somebody changed the file meanwhile: then theirs counts."""
    with contextlib.suppress(CogvaultError):
        write_atomic(file, before, expected_hash=hash_of(after))


def taken(place: Located, message: str, hint: str) -> ConflictError:
    """What is said of a place that is not free.

    Args:
        place: where a card was to go.
        message: what is wrong when a card is there.
        hint: what to do about that. Of anything else no call that takes a card would know.
    """
    if place.file.is_file():
        return ConflictError(message, path=place.path, hint=hint)
    what = (
        "a symbolic link that leads nowhere" if place.file.is_symlink() else "a folder, or something else than a file,"
    )
    return ConflictError(f"{what} has this name", path=place.path, hint="move it away, or choose another name")
