"""Which card a link means. Never by suffix or likeness; ``suggest`` is for people."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rapidfuzz import fuzz, process

from cogvault.text.normalise import fold, nfc
from cogvault.types import LinkKind

_SEPARATORS = re.compile(r"[-_\s]+")
_UNDERSCORE = re.compile("_")
_USUAL_TYPES = ("user", "feedback", "project", "reference")
_MIN_LIKENESS = 75.0
MAX_AMBIGUOUS = 20


class Linkable(Protocol):
    """What the resolver knows of a card; ``Card`` and ``CardInfo`` have it."""

    @property
    def id(self) -> str:
        """Vault-relative path with its suffix."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def name(self) -> str | None:
        """Its ``name:``."""

    @property
    def aliases(self) -> Sequence[str]:
        """Its aliases."""

    @property
    def type(self) -> str | None:
        """Its type; types are the prefixes that a link may leave out."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a target resolves to.

    Attributes:
        id: the card, or None: a ghost link.
        ambiguous: all cards that fit equally well, best first, when there is more than one.
    """

    id: str | None
    ambiguous: tuple[str, ...] = ()


_GHOST = Resolution(None)


def _order(id: str) -> tuple[int, int, str]:
    """Of equal cards the one nearest to the vault's root, then the shortest path, then the first by alphabet."""
    return id.count("/"), len(id), id


class _Table:
    """Cards by a key, best first, whatever the order in which they come and go.

    Nearly every key is of one card, whose id stands without a list: lists would be most of the table's memory.
    """

    def __init__(self) -> None:
        self._ids: dict[str, str | list[str]] = {}

    def add(self, key: str, id: str) -> None:
        if not key:
            return
        ids = self._ids.setdefault(key, id)
        if isinstance(ids, str):
            if ids != id:
                self._ids[key] = sorted((ids, id), key=_order)
            return
        place = bisect_left(ids, _order(id), key=_order)
        if ids[place : place + 1] != [id]:
            ids.insert(place, id)

    def remove(self, key: str, id: str) -> None:
        ids = self._ids.get(key)
        if ids is None or isinstance(ids, str):
            if ids == id:
                del self._ids[key]
            return
        place = bisect_left(ids, _order(id), key=_order)
        if ids[place : place + 1] == [id]:
            del ids[place]
            if len(ids) == 1:
                self._ids[key] = ids[0]

    def find(self, key: str, folder: str) -> Resolution | None:
        """The card of this key: one in ``folder`` first."""
        ids = self._ids.get(key)
        if ids is None:
            return None
        if isinstance(ids, str):
            return Resolution(ids)
        best = next((id for id in ids if posixpath.dirname(id) == folder), ids[0])
        return Resolution(best, (best, *(id for id in ids[:MAX_AMBIGUOUS] if id != best)))


class _Keys:
    """One way of naming a card: as written, folded, and with either separator style."""

    def __init__(self) -> None:
        self._exact, self._folded, self._separated = _Table(), _Table(), _Table()

    def add(self, key: str, id: str) -> None:
        exact, folded = nfc(key), fold(key)
        if folded == exact:
            folded = exact  # one text in memory, not two
        self._exact.add(exact, id)
        self._folded.add(folded, id)
        self._separated.add(_separated(folded), id)

    def remove(self, key: str, id: str) -> None:
        folded = fold(key)
        self._exact.remove(nfc(key), id)
        self._folded.remove(folded, id)
        self._separated.remove(_separated(folded), id)

    def find(self, key: str, folder: str) -> Resolution | None:
        """Exact case wins, then any case."""
        return self._exact.find(nfc(key), folder) or self._folded.find(fold(key), folder)

    def find_separated(self, key: str, folder: str) -> Resolution | None:
        """Any case, and ``-``, ``_`` and blanks are the same."""
        return self._separated.find(_separated(fold(key)), folder)


class _Known:
    """Cards by all that a link may name them with."""

    def __init__(self) -> None:
        self.paths, self.names, self.stems, self.prefixless = _Keys(), _Keys(), _Keys(), _Keys()


class LinkResolver:
    """Targets to cards, in this order: path, name or alias or title, stem; then the same with either separator style;
    then with or without a leading type prefix. O(1) a link, and a card that comes or goes.

    Its tables, of a kilobyte a card, are made when the first link is resolved: in many vaults nothing is linked.
    """

    def __init__(self, cards: Iterable[Linkable]) -> None:
        self._known: _Known | None = None
        self._likely: dict[str, str] | None = None
        self._cards = {card.id: card for card in cards}
        self._types = {*_USUAL_TYPES, *(fold(card.type) for card in self._cards.values() if card.type)}

    @property
    def types(self) -> frozenset[str]:
        """Prefixes that a link may leave out, folded: the usual types, and those of the cards it was made with."""
        return frozenset(self._types)

    def add(self, card: Linkable) -> None:
        """A card came; its type is among ``types``."""
        self._cards[card.id] = card
        self._likely = None
        if self._known is not None:
            self._enter(self._known, card)

    def remove(self, card: Linkable) -> None:
        """A card went, as it was when it came."""
        del self._cards[card.id]
        self._likely = None
        if self._known is not None:
            for keys, key in self._keys_of(self._known, card):
                keys.remove(key, card.id)

    def loose_keys(self, text: str) -> frozenset[str]:
        """Keys of a link's target, or of a card's path or name: where a link leads, they have one in common."""
        found: set[str] = set()
        for form in (text, posixpath.normpath(text)):
            base = fold(_bare(form)).rpartition("/")[2]
            found.update(_separated(key) for key in (base, *self._without_prefix(base)))
        return frozenset(found)

    def _all(self) -> _Known:
        if self._known is None:
            known = _Known()
            for card in self._cards.values():
                self._enter(known, card)
            self._known = known  # last, so that what was broken off is not taken for all cards
        return self._known

    def _enter(self, known: _Known, card: Linkable) -> None:
        for keys, key in self._keys_of(known, card):
            keys.add(key, card.id)

    def _keys_of(self, known: _Known, card: Linkable) -> Iterator[tuple[_Keys, str]]:
        path = _bare(card.id)
        stem = posixpath.basename(path)
        names = _names_of(card)
        yield known.paths, path
        yield known.stems, stem
        for name in names:
            yield known.names, name
        for name in dict.fromkeys([stem, *names[: 1 if card.name else 0]]):
            for rest in self._without_prefix(name):
                yield known.prefixless, rest

    def resolve(self, target: str, *, source_id: str, kind: LinkKind = LinkKind.WIKI) -> Resolution:
        """The card that a link means.

        Args:
            target: ``Link.target``; "" is the card itself.
            source_id: card that holds the link.
            kind: a Markdown link is relative to its own folder before it is relative to the vault.
        """
        if not target:
            return Resolution(source_id)
        known, folder = self._all(), posixpath.dirname(source_id)
        bare = _bare(target)
        paths = _paths(bare, folder, kind)
        for path in paths:
            if found := known.paths.find(path, folder):
                return found
        names = () if bare.startswith(("./", "../", "/")) else (known.names, known.stems)
        for keys in names:
            if found := keys.find(bare, folder):
                return found
        for path in paths:
            if found := known.paths.find_separated(path, folder):
                return found
        for keys in names:
            if found := keys.find_separated(bare, folder):
                return found
        return (self._by_prefix(known, bare, folder) if names else None) or _GHOST

    def suggest(self, target: str, limit: int = 3) -> list[str]:
        """Ids of the cards whose names are most like a target, best first: "did you mean"."""
        names = self._likely_names()
        likely = process.extract(
            _separated(fold(_bare(target))),
            names.keys(),
            scorer=fuzz.ratio,
            score_cutoff=_MIN_LIKENESS,
            limit=4 * limit,
        )
        return list(dict.fromkeys(names[key] for key, _, _ in likely))[:limit]

    def _likely_names(self) -> dict[str, str]:
        if self._likely is None:
            self._likely = {}
            for card in sorted(self._cards.values(), key=lambda card: _order(card.id)):
                for name in (posixpath.basename(_bare(card.id)), *_names_of(card)):
                    self._likely.setdefault(_separated(fold(name)), card.id)
        return self._likely

    def _by_prefix(self, known: _Known, bare: str, folder: str) -> Resolution | None:
        if found := known.prefixless.find_separated(bare, folder):
            return found
        for rest in self._without_prefix(bare):
            if found := known.stems.find_separated(rest, folder) or known.names.find_separated(rest, folder):
                return found
        return None

    def _without_prefix(self, name: str) -> list[str]:
        """What remains of ``project_user-auth`` without a known type before an underscore; empty when there is none."""
        cuts = [match.start() for match in _UNDERSCORE.finditer(name)]
        return [name[cut + 1 :] for cut in cuts if fold(name[:cut]) in self._types]


def _paths(bare: str, folder: str, kind: LinkKind) -> list[str]:
    """Vault-relative paths that a target may stand for, likeliest first; none that leave the vault."""
    if bare.startswith("/"):
        candidates = [bare.lstrip("/")]
    elif bare.startswith(("./", "../")):
        candidates = [posixpath.join(folder, bare)]
    elif kind is LinkKind.MARKDOWN:
        candidates = [posixpath.join(folder, bare), bare]
    elif "/" in bare:
        candidates = [bare, posixpath.join(folder, bare)]
    else:
        candidates = [bare]
    paths = (posixpath.normpath(candidate) for candidate in dict.fromkeys(candidates) if candidate)
    return [path for path in paths if not path.startswith("..")]


def _names_of(card: Linkable) -> list[str]:
    return [_bare(text) for text in (card.name, *card.aliases, card.title) if text]


def _bare(text: str) -> str:
    """A name without ``.md``."""
    return text[:-3] if text[-3:].lower() == ".md" else text


def _separated(folded: str) -> str:
    return _SEPARATORS.sub("-", folded)
