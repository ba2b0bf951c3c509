"""What this process wrote just now, which the index may not know yet."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from threading import Lock

from cogvault.text.likeness import NEAR, Print, likeness

__all__ = ["RecentTexts"]

# Compared by words the newest, by digest far more.
_COMPARED = 500
_KEPT = 20_000
# Texts that say nearly the same share at least this much of the weight of each: the rest then stands in place of words
# of the same weight.
_SHARED = 2 * NEAR - 1


@dataclass(frozen=True, slots=True)
class _Written:
    """A card, its text as it was written, and how many were written before, itself included."""

    id: str
    words: Print
    number: int


class RecentTexts:
    """Cards by their texts. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._kept: OrderedDict[tuple[str, str], _Written] = OrderedDict()
        # The newest of them by digest, and where each of their words is.
        self._compared: OrderedDict[str, _Written] = OrderedDict()
        self._with_word: dict[str, set[str]] = defaultdict(set)

    def same(self, words: Print, memory: str) -> str | None:
        """The card of this memory that had the very same text when it was written."""
        with self._lock:
            written = self._kept.get((memory, words.digest))
        return None if written is None else written.id

    def like(self, words: Print) -> list[str]:
        """The cards with nearly the same text, the newest first."""
        with self._lock:
            sharing = [self._compared[digest] for digest in self._sharing(words) if digest in self._compared]
        total = sum(words.weights.values())
        near = [
            written
            for written in sharing
            if _may_be_near(words, total, written.words) and likeness(words, written.words) >= NEAR
        ]
        return [written.id for written in sorted(near, key=lambda written: -written.number)]

    def add(self, id: str, words: Print, memory: str) -> None:
        """A card of this memory was written."""
        with self._lock:
            self._count += 1
            written = _Written(id, words, self._count)
            self._kept[memory, words.digest] = written
            self._kept.move_to_end((memory, words.digest))
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            self._compared[words.digest] = written
            self._compared.move_to_end(words.digest)
            for word in words.weights:
                self._with_word[word].add(words.digest)
            if len(self._compared) > _COMPARED:
                self._drop(self._compared.popitem(last=False)[1].words)

    def _sharing(self, words: Print) -> set[str]:
        """Digests of all that can be like a text: whatever has none of these words shares too little of it."""
        total = sum(words.weights.values())
        found = {words.digest}
        spare = (1 - _SHARED) * total
        # Words that few have come first, so that few are found.
        for word in sorted(words.weights, key=lambda word: len(self._with_word.get(word, ()))):
            found |= self._with_word.get(word, set())
            spare -= words.weights[word]
            if spare < 0:
                break
        return found

    def _drop(self, words: Print) -> None:
        for word in words.weights:
            self._with_word[word].discard(words.digest)
            if not self._with_word[word]:
                del self._with_word[word]


def _may_be_near(one: Print, total: float, other: Print) -> bool:
    """False when ``likeness`` is below ``NEAR`` even if all that ``one`` has alone stands in the place of other words;
    ``total`` is its weight."""
    shared = sum(map(one.weights.__getitem__, one.weights.keys() & other.weights.keys()))
    return shared + total >= NEAR * (total + sum(other.weights.values())) - 1e-9
