"""Cards that say the same, or nearly, as a text that is about to be written."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from cogvault.cards.addresses import DIMENSIONS, RESOURCES
from cogvault.cards.paths import resolve_inside
from cogvault.cards.regular import read_regular
from cogvault.cards.writer import hash_of
from cogvault.errors import PathError
from cogvault.indexing.known_files import KnownFiles
from cogvault.indexing.scan import is_card_path
from cogvault.lifecycle.recent import RecentTexts
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Snapshot
from cogvault.retrieval.decay import validity
from cogvault.text.likeness import NEAR, Print, likeness, overlap, print_of, telling_words
from cogvault.text.normalise import nfc
from cogvault.types import Card, Filter, SimilarCard, StoredChunk, Term, TermKind

__all__ = ["SimilarCards", "Similarity", "Twin", "memory_of"]

# Words that the index is asked for; more of a long text find no other candidates.
_WORDS = 64
# Chunks taken from the index, and cards of them whose files are read and compared.
_CHUNKS = 24
_CARDS = 10
_REPORTED = 5
# Texts no longer than this have one chunk or two: a found chunk of a card that says the same has a good part of them.
_ONE_CHUNK_CHARS = 1_000
_MIN_SHARE = 0.25
# Bytes of a file for each character of the text; a longer one cannot say nearly the same.
_MAX_LENGTH_RATIO = 16
_FRONTMATTER_BYTES = 8 * 1024


@dataclass(frozen=True, slots=True)
class Twin:
    """A card with the very same text that holds still; ``hash`` is that of its file's bytes."""

    id: str
    hash: str
    card: Card


@dataclass(frozen=True, slots=True)
class Similarity:
    """What is like a text: a card that says the same, and those that say nearly the same, most similar first."""

    same: Twin | None = None
    near: tuple[SimilarCard, ...] = ()


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """A card as its file stands now."""

    twin: Twin
    words: Print


class SimilarCards:
    """Looks for cards like a text. Safe to share between threads.

    Candidates come from the index's keyword search, whatever the size of the vault, and from what was written through
    this object; they are compared by their files, which the index may lag behind.

    Args:
        workspace: the vault.
        known: what the index holds now, without waiting for what was just written.
    """

    def __init__(self, workspace: Workspace, known: Callable[[], Snapshot]) -> None:
        self._workspace = workspace
        self._known = known
        self._recent = RecentTexts()

    def look(self, text: str, words: Print, memory: str) -> Similarity:
        """Cards like a text.

        Args:
            text: the text.
            words: its print.
            memory: whose it is to be, see ``memory_of``; the very same text in another one is only like it.
        """
        self._known()  # the first time it looks at the files, for which no other thread must wait
        with self._workspace.turns:
            return self._looked(text, words, memory)

    def _looked(self, text: str, words: Print, memory: str) -> Similarity:
        near: list[SimilarCard] = []
        for id in dict.fromkeys([*self._recent_like(words, memory), *self._candidates(text, words)]):
            found = self._read(id, len(text))
            if found is None:
                continue
            if self._is_twin(found, words, memory):
                return Similarity(found.twin)
            if (alike := likeness(words, found.words)) >= NEAR:
                near.append(SimilarCard(id, found.twin.card.title, round(alike, 3)))
        near.sort(key=lambda card: (-card.similarity, card.id))
        return Similarity(None, tuple(near[:_REPORTED]))

    def twin(self, id: str | None, words: Print, length: int, memory: str) -> Twin | None:
        """The card with this id, should it have the very same text. None as id: one that was written through here."""
        if id is None:
            id = self._recent.same(words, memory)
        if id is None:
            return None
        found = self._read(id, length)
        return found.twin if found is not None and self._is_twin(found, words, memory) else None

    def names_in(self, folder: str) -> frozenset[str]:
        """File names of the known cards in a folder, "" = the root."""
        prefix = f"{folder}/" if folder else ""
        cards = self._known().cards
        first = bisect_left(cards, prefix, key=lambda card: card.id)
        behind = (cards[place] for place in range(first, len(cards)))  # no other card is decoded
        below = takewhile(lambda card: card.id.startswith(prefix), behind)
        return frozenset(card.path.rpartition("/")[2] for card in below if "/" not in card.id[len(prefix) :])

    def appeared(self, path: str, words: Print, length: int) -> Twin | None:
        """A file that another program made just now, should it be a card with the very same text."""
        id = nfc(path)
        found = self._read(id, length, path) if path.lower().endswith(".md") else None
        if found is None or not self._is_twin(found, words, memory_of(id)):
            return None
        is_card = is_card_path(self._workspace.root, self._workspace.scan, path)
        return found.twin if is_card else None

    def remember(self, id: str, words: Print) -> None:
        """A card was written."""
        self._recent.add(id, words, memory_of(id))

    def _is_twin(self, found: _OnDisk, words: Print, memory: str) -> bool:
        """True for the very same text in the same memory; not in a card that was superseded or has expired."""
        if found.words.digest != words.digest or memory_of(found.twin.id) != memory:
            return False
        cards = self._known().cards
        replaced = self._workspace.links.replaced(cards, cards)
        return validity(found.twin.card, self._workspace.clock(), replaced) not in ("superseded", "expired")

    def _candidates(self, text: str, whole: Print) -> list[str]:
        terms = tuple(Term(TermKind.EXACT, word, 1.0) for word in telling_words(text, _WORDS))
        if not terms:
            return []
        snapshot = self._known()
        found = snapshot.chunks([int(chunk) for chunk in snapshot.keyword(terms, Filter(), _CHUNKS).chunks])
        known, least = KnownFiles(snapshot.cards), _MIN_SHARE if len(text) <= _ONE_CHUNK_CHARS else 0.0
        found = [item for item in found if _may_be_like(whole, item, known, least)]
        return list(dict.fromkeys(chunk.card for chunk in found))[:_CARDS]

    def _recent_like(self, words: Print, memory: str) -> list[str]:
        same, like = self._recent.same(words, memory), self._recent.like(words)[:_CARDS]
        return like if same is None else [same, *like]

    def _read(self, id: str, length: int, at: str | None = None) -> _OnDisk | None:
        """The card, at this path if one is given; None = it is gone, cannot be read, or is far longer."""
        for path in self._paths(id) if at is None else (at,):
            try:
                file = resolve_inside(self._workspace.root, path)
                if file.stat().st_size > _MAX_LENGTH_RATIO * length + _FRONTMATTER_BYTES:
                    return None
                data = read_regular(file)
            except (OSError, PathError):
                continue
            card = self._workspace.parser.parse(data, id=id, path=path)
            return _OnDisk(Twin(id, hash_of(data), card), print_of(card.body.strip() or card.title))
        return None

    def _paths(self, id: str) -> Iterator[str]:
        """The path that the id nearly always is, and for a name in another normal form the one on disk."""
        yield id
        if not id.isascii():
            yield from (card.path for card in self._known().cards if card.id == id and card.path != id)


def memory_of(id: str) -> str:
    """Whose memory a card is part of: the folder of a user, an agent or a session; "" = that of all.

    >>> [memory_of(id) for id in ("user/ana/tea.md", "user/all.md", "resources/team/ops.md", "tea.md")]
    ['user/ana', '', '', '']
    """
    dimension, _, rest = id.partition("/")
    who, slash, _ = rest.partition("/")
    return f"{dimension}/{who}" if slash and dimension in DIMENSIONS and dimension != RESOURCES else ""


def _may_be_like(words: Print, found: StoredChunk, known: KnownFiles, least_share: float) -> bool:
    """False when the chunk tells, without its card being read, that the card says something else."""
    part = overlap(words, found.chunk.text)
    if part.share < least_share:
        return False
    card = known.card(found.card)
    # Every line of a body is in a chunk: the one chunk behind the head has all of it.
    is_all = card is not None and card.chunks <= 2 and found.chunk.position == card.chunks - 1
    return part.likeness(is_all=is_all) >= NEAR
