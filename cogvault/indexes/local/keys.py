"""What words, stems and grams are found by in the catalog: hashes that mean nothing outside it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b

from cogvault.text.tokens import STEM_LENGTH, grams, stem

_BYTES = 8
# Words of some hundred cards: those that are new are stored, and right after that given to the keyword engine.
_KNOWN = 32_768
# Questions share their common words only. A process that is asked for hours has all of these after a few minutes.
ASKED = 4096


class Keys:
    """Keys of one catalog; equal texts have equal keys, two texts have the same one time in 10**19.

    Args:
        uuid: of the catalog.
        known: of each kind that many are remembered, 200 bytes each.
    """

    def __init__(self, uuid: str, known: int = _KNOWN) -> None:
        # Texts share words, and words stems and grams, so that most are asked for many times.
        self.word = _remembered(b"word", uuid, known)
        self.stem = _remembered(b"stem", uuid, known)
        self.gram = _remembered(b"gram", uuid, known)
        self.members = lru_cache(known)(self._members)

    def _members(self, form: str) -> tuple[int | None, tuple[int, ...]]:
        """Key of a word's stem, None = the word is shorter than a stem; keys of its grams."""
        own = self.stem(stem(form)) if len(form) >= STEM_LENGTH else None
        return own, tuple(map(self.gram, grams(form)))


class KeptKeys:
    """The keys of one catalog, the same for one commit after another: most of what they need was asked for by the last.

    Up to 26 MB after many cards, so that who made the last of a row of commits has to ``forget`` them.
    """

    def __init__(self) -> None:
        self._held: tuple[str, Keys] | None = None

    def of(self, uuid: str) -> Keys:
        """Keys of the catalog that has this uuid now."""
        held = self._held
        if held is None or held[0] != uuid:
            held = self._held = (uuid, Keys(uuid))
        return held[1]

    def forget(self) -> None:
        """Give back what is remembered."""
        self._held = None


def _remembered(kind: bytes, uuid: str, known: int) -> Callable[[str], int]:
    base = blake2b(kind, key=uuid.encode(), digest_size=_BYTES)
    return lru_cache(known)(lambda text: _key(base, text))


def _key(base: blake2b, text: str) -> int:
    digest = base.copy()
    digest.update(text.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "little", signed=True)
