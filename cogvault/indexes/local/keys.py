"""What words, stems and grams are found by in the catalog: hashes that mean nothing outside it. Pure."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

_BYTES = 8
_KNOWN = 65_536


class Keys:
    """Keys of one catalog; equal texts have equal keys, two texts have the same one time in 10**19.

    Args:
        uuid: of the catalog.
    """

    def __init__(self, uuid: str) -> None:
        self._word = blake2b(b"word", key=uuid.encode(), digest_size=_BYTES)
        self._stem = blake2b(b"stem", key=uuid.encode(), digest_size=_BYTES)
        # Texts share grams, so that most are asked for many times.
        gram = blake2b(b"gram", key=uuid.encode(), digest_size=_BYTES)
        self.gram = lru_cache(_KNOWN)(lambda text: _key(gram, text))

    def word(self, text: str) -> int:
        """Of a whole word."""
        return _key(self._word, text)

    def stem(self, text: str) -> int:
        """Of a stem."""
        return _key(self._stem, text)


def _key(base: blake2b, text: str) -> int:
    digest = base.copy()
    digest.update(text.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "little", signed=True)
