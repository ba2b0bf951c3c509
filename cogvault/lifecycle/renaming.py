"""What one card's new path means for the links of all. Pure.

Rewritten is a link that named the card's file, whose name is another now, and every link that would lead elsewhere than
before: one that would not find the card any more, one of the card itself that is relative to its folder, and one that
the card's new name would catch from another card. A link by title or alias is left as it is, and so is one that leads
nowhere: it goes live if the new name is what it was waiting for.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cogvault.cards.addresses import card_at
from cogvault.cards.edit import set_keys
from cogvault.cards.retarget import retarget
from cogvault.retrieval.succession import SharedGraph
from cogvault.text.normalise import fold
from cogvault.types import Card, CardInfo, JsonValue, Link, LinkKind, Problem

__all__ = ["Renaming", "Rewritten"]

_REFERENCES = ("supersedes", "superseded_by")
_SUFFIX = ".md"
_SEPARATORS = re.compile(r"[-_\s]+")
_WIKI = re.compile(r"\[\[([^\[\]|#^]+)")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A card's file with its links brought along.

    Attributes:
        links: how many links of its body were rewritten.
        problems: links that could not be.
    """

    data: bytes
    links: int = 0
    problems: tuple[Problem, ...] = ()


class Renaming:
    """One card on its way from one id to another.

    Args:
        links: which card a link means.
        cards: all cards of the vault, as they are, ordered by id.
        old: its id.
        renamed: the card as it will be.
    """

    def __init__(self, links: SharedGraph, cards: Sequence[CardInfo], old: str, renamed: Card) -> None:
        self._links, self._cards = links, cards
        self._old, self._new, self._renamed = old, renamed.id, renamed
        # A link that says the old name then finds the new one, in cogvault, but not in every program.
        self._is_respelled = _plain(old) == _plain(renamed.id)
        self._led_after: dict[tuple[str, LinkKind, str], str | None] = {}

    def concerned(self) -> list[CardInfo]:
        """The other cards in which a link or reference has to be rewritten, as far as an index knows, ordered by id.

        Only links that may mean the card under one of its names, now or then, are looked at.
        """
        gone = [card for id in (self._old, self._new) if (card := card_at(self._cards, id)) is not None]
        involved: list[CardInfo | Card] = [*gone, self._renamed]
        names = [name for card in involved for name in (card.id, *_names_of(card))]
        with self._links.of(self._cards) as graph:
            near = frozenset(graph.naming(names))
        cards = [
            card
            for card in self._cards
            if (card.id in near or card.supersedes or card.superseded_by or _is_cut(card))
            and card.id not in (self._old, self._new)
        ]
        self._follow([(target, kind, card.id) for card in cards for target, kind in _names_in(card)])
        return [card for card in cards if self._concerns(card)]

    def _concerns(self, card: CardInfo) -> bool:
        return _is_cut(card) or any(self._wanted(target, kind, card.id) for target, kind in _names_in(card))

    def rewrite(self, data: bytes, card: Card) -> Rewritten:
        """A card's file for the time after.

        Args:
            data: its bytes.
            card: the same, parsed under the id it has now.

        Raises:
            CardError: the file cannot be written without harm.
        """
        at = card.id

        def wanted(link: Link) -> str | None:
            return self._wanted(link.target, link.kind, at)

        def leads_to(link: Link) -> str | None:
            return self._leads_to(link.target, link.kind, at)

        if any(map(wanted, card.links)):
            folder = posixpath.dirname(self._then(at))
            moved = retarget(data, wanted, leads_to, folder=folder, names=self._names)
            problems = tuple(_not_rewritten(card, link) for link in moved.left)
            return Rewritten(self._with_references(moved.data, card), moved.count, problems)
        return Rewritten(self._with_references(data, card))

    def _wanted(self, target: str, kind: LinkKind, at: str) -> str | None:
        """The card that a link of the card ``at`` is to lead to after the move; None = it does so as it is."""
        led = self._links.resolve(self._cards, target, at, kind)
        if led is None:
            return None
        wanted = self._new if led == self._old else led
        if self._after(target, kind, at) != wanted:
            return wanted
        form = str if led == self._old and self._is_respelled else fold
        name = str if self._is_respelled else _plain
        is_renamed = led == self._old and _names(target, self._old, name) and not _names(target, self._new, name)
        is_removed = (
            kind is LinkKind.MARKDOWN
            and _is_relative(target, at, led, form)
            and not _is_relative(target, self._then(at), wanted, form)
        )
        return wanted if is_renamed or is_removed else None

    def _leads_to(self, target: str, kind: LinkKind, at: str) -> str | None:
        """The card that a new text would lead to. One that leads to another card until the move is done does not
        count: were the move cut off and repeated, it would be taken for a link to that card."""
        led = self._after(target, kind, at)
        if led == self._new and at not in (self._old, self._new):
            now = self._links.resolve(self._cards, target, at, kind)
            return led if now in (None, self._old, self._new) else None
        return led

    def _after(self, target: str, kind: LinkKind, at: str) -> str | None:
        if (target, kind, at) not in self._led_after:
            self._follow([(target, kind, at)])
        return self._led_after[target, kind, at]

    def _follow(self, names: Sequence[tuple[str, LinkKind, str]]) -> None:
        """Find out where links, each with its kind and its card, lead after the move: all of them in one go, as the
        graph has to be changed for it."""
        with self._links.of(self._cards) as graph, graph.renamed((self._old, self._new), self._renamed):
            for target, kind, at in names:
                self._led_after[target, kind, at] = graph.resolve(target, self._then(at), kind)

    def _names(self, id: str) -> list[str]:
        card = self._renamed if id == self._new else card_at(self._cards, id)
        return [] if card is None else _names_of(card)

    def _then(self, id: str) -> str:
        return self._new if id == self._old else id

    def _with_references(self, data: bytes, card: Card) -> bytes:
        nested = card.meta.get("metadata")
        for key in _REFERENCES:
            value = card.meta.get(key)
            if value is None and isinstance(nested, dict):
                value = nested.get(key)
            renamed = self._reference(value, card.id)
            if renamed != value:
                data = set_keys(data, {key: renamed})
        return data

    def _reference(self, value: JsonValue, at: str) -> JsonValue:
        """The value of a key that names cards: a list, comma text, or one name, with or without brackets."""
        if isinstance(value, list):
            return [self._one(item, at) if isinstance(item, str) else self._reference(item, at) for item in value]
        if not isinstance(value, str):
            return value
        words = value.split(",")
        renamed = [self._one(word, at) for word in words]
        if renamed == words:
            return value
        return ",".join(renamed) if all("," not in word for word in renamed) else [word.strip() for word in renamed]

    def _one(self, word: str, at: str) -> str:
        match = _WIKI.search(word)
        written = match[1].strip() if match else word.strip()
        wanted = self._wanted(written, LinkKind.WIKI, at) if written else None
        if wanted is None:
            return word
        bare = wanted.removesuffix(".md")
        suffix = ".md" if written.lower().endswith(".md") else ""
        texts = [bare + suffix, bare, wanted, f"/{bare}"]
        if "/" not in written:
            texts.insert(0, posixpath.basename(bare) + suffix)
        text = next((text for text in texts if self._leads_to(text, LinkKind.WIKI, at) == wanted), wanted)
        return word.replace(written, text, 1)


def _names_in(card: CardInfo) -> Iterator[tuple[str, LinkKind]]:
    """What may name another card, in the text and in the frontmatter."""
    yield from ((link.target, link.kind) for link in card.links)
    yield from ((name, LinkKind.WIKI) for name in (*card.supersedes, *card.superseded_by))


def _is_cut(card: CardInfo) -> bool:
    """True when more links may stand behind what is indexed of the card."""
    return bool(card.problems) and any(problem.code == "oversize" for problem in card.problems)


def _names_of(card: CardInfo | Card) -> list[str]:
    return [name for name in (card.name, card.title, *card.aliases) if name]


def _names(target: str, id: str, form: Callable[[str], str]) -> bool:
    """True when the target names the file of this card, in this form of names."""
    return form(_stem(target)) == form(_stem(id))


def _is_relative(target: str, at: str, id: str, form: Callable[[str], str]) -> bool:
    """True when the target is the way to a card from the folder of the card ``at``, as Markdown programs read it."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(at), target))
    return form(path) in (form(id), form(id.removesuffix(".md")))


def _plain(path: str) -> str:
    """Whatever the case and the separators."""
    return _SEPARATORS.sub("-", fold(path))


def _stem(path: str) -> str:
    name = posixpath.basename(path)
    return name[: -len(_SUFFIX)] if name.lower().endswith(_SUFFIX) else name


def _not_rewritten(card: Card, link: Link) -> Problem:
    message = f"no text can make the link to {link.target!r} lead to the card at its new place"
    return Problem(card.path, "link-not-rewritten", message, link.line)
