"""Which card a link means. Never by suffix or likeness; ``suggest`` is for people."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
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


class _Table:
    """Cards by a key. Cards are added best first, so that the first of equal ones is the answer."""

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = {}
        self._nearby: dict[tuple[str, str], str] = {}

    def add(self, key: str, id: str) -> None:
        ids = self._ids.setdefault(key, [])
        if key and id not in ids[-1:]:
            ids.append(id)
            self._nearby.setdefault((posixpath.dirname(id), key), id)

    def find(self, key: str, folder: str) -> Resolution | None:
        """The card of this key: one in ``folder`` first."""
        ids = self._ids.get(key)
        if not ids:
            return None
        best = self._nearby.get((folder, key), ids[0])
        if len(ids) == 1:
            return Resolution(best)
        return Resolution(best, (best, *(id for id in ids[:MAX_AMBIGUOUS] if id != best)))


class _Keys:
    """One way of naming a card: as written, folded, and with either separator style."""

    def __init__(self) -> None:
        self._exact, self._folded, self._separated = _Table(), _Table(), _Table()

    def add(self, key: str, id: str) -> None:
        folded = fold(key)
        self._exact.add(nfc(key), id)
        self._folded.add(folded, id)
        self._separated.add(_separated(folded), id)

    def find(self, key: str, folder: str) -> Resolution | None:
        """Exact case wins, then any case."""
        return self._exact.find(nfc(key), folder) or self._folded.find(fold(key), folder)

    def find_separated(self, key: str, folder: str) -> Resolution | None:
        """Any case, and ``-``, ``_`` and blanks are the same."""
        return self._separated.find(_separated(fold(key)), folder)


class LinkResolver:
    """Targets to cards, in this order: path, name or alias or title, stem; then the same with either separator style;
    then with or without a leading type prefix. Built once in O(cards), O(1) a link.
    """

    def __init__(self, cards: Iterable[Linkable]) -> None:
        self._paths, self._names, self._stems, self._prefixless = _Keys(), _Keys(), _Keys(), _Keys()
        self._likely: dict[str, str] = {}
        ordered = sorted(cards, key=lambda card: (card.id.count("/"), len(card.id), card.id))
        self._types = {*_USUAL_TYPES, *(fold(card.type) for card in ordered if card.type)}
        for card in ordered:
            path = _bare(card.id)
            stem = posixpath.basename(path)
            names = [_bare(text) for text in (card.name, *card.aliases, card.title) if text]
            self._paths.add(path, card.id)
            self._stems.add(stem, card.id)
            for name in names:
                self._names.add(name, card.id)
            for name in dict.fromkeys([stem, *names[: 1 if card.name else 0]]):
                for rest in self._without_prefix(name):
                    self._prefixless.add(rest, card.id)
            for name in (stem, *names):
                self._likely.setdefault(_separated(fold(name)), card.id)

    def resolve(self, target: str, *, source_id: str, kind: LinkKind = LinkKind.WIKI) -> Resolution:
        """The card that a link means.

        Args:
            target: ``Link.target``; "" is the card itself.
            source_id: card that holds the link.
            kind: a Markdown link is relative to its own folder before it is relative to the vault.
        """
        if not target:
            return Resolution(source_id)
        folder = posixpath.dirname(source_id)
        bare = _bare(target)
        paths = _paths(bare, folder, kind)
        for path in paths:
            if found := self._paths.find(path, folder):
                return found
        names = () if bare.startswith(("./", "../", "/")) else (self._names, self._stems)
        for keys in names:
            if found := keys.find(bare, folder):
                return found
        for path in paths:
            if found := self._paths.find_separated(path, folder):
                return found
        for keys in names:
            if found := keys.find_separated(bare, folder):
                return found
        return (self._by_prefix(bare, folder) if names else None) or _GHOST

    def suggest(self, target: str, limit: int = 3) -> list[str]:
        """Ids of the cards whose names are most like a target, best first: "did you mean"."""
        likely = process.extract(
            _separated(fold(_bare(target))),
            self._likely.keys(),
            scorer=fuzz.ratio,
            score_cutoff=_MIN_LIKENESS,
            limit=4 * limit,
        )
        return list(dict.fromkeys(self._likely[key] for key, _, _ in likely))[:limit]

    def _by_prefix(self, bare: str, folder: str) -> Resolution | None:
        if found := self._prefixless.find_separated(bare, folder):
            return found
        for rest in self._without_prefix(bare):
            if found := self._stems.find_separated(rest, folder) or self._names.find_separated(rest, folder):
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


def _bare(text: str) -> str:
    """A name without ``.md``."""
    return text[:-3] if text[-3:].lower() == ".md" else text


def _separated(folded: str) -> str:
    return _SEPARATORS.sub("-", folded)
