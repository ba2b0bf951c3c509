"""Facts that change: which card took the place of which, and since when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from cogvault.cards.addresses import card_at, card_uri, has_card
from cogvault.cards.edit import set_keys
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.errors import CardError
from cogvault.lifecycle.files import put_back, read_bytes
from cogvault.lifecycle.uris import Located, find, uri_of
from cogvault.lifecycle.values import moment_text
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Snapshot
from cogvault.retrieval.decay import validity
from cogvault.retrieval.succession import SharedGraph
from cogvault.types import Action, Card, CardInfo, FactVersion, JsonValue, WriteResult

__all__ = ["history", "supersede"]


def supersede(workspace: Workspace, looked: Callable[[], Snapshot], old: str, new: str) -> WriteResult:
    """Say that one card takes the place of another: ``supersedes`` in the new one, ``superseded_by`` and
    ``valid_until`` in the old one, which is kept.

    The old one ends when the new one begins to hold (its ``valid_from``, else ``created``, else now), so that at every
    instant one of them holds. What is said already is not written again, so that a call that was cut off can be
    repeated. An earlier ``valid_until`` stays.

    Args:
        workspace: the vault.
        looked: what the vault holds, after a look for changed files when the last one is old enough.
        old: id, path or address of the card that does not hold any more.
        new: of the card that holds now.

    Returns:
        The result for the old card.

    Raises:
        PathError: one of the two names no card.
        CardError: both are one card, the new one was superseded by the old one, or one cannot be edited. Nothing was
            written.
        ConflictError: one of them changed meanwhile. Nothing was written.
    """
    with workspace.writing():
        cards = looked().cards
        before, after = find(workspace, old, cards), find(workspace, new, cards)
        chain = _Chain(workspace.links, cards)
        if before.id == after.id:
            raise CardError(f"{before.id} cannot take its own place", hint="name two cards")
        if before.id in chain.later(after.id):
            message = f"{before.id} took the place of this card already"
            raise CardError(message, path=after.path, hint="take superseded_by out of it first")
        now = workspace.clock().astimezone(UTC).replace(microsecond=0)
        begun = _change(workspace, after, lambda card: _named(card, "supersedes", before.id, chain))
        ended = _change(workspace, before, lambda card: _ended(card, after.id, chain, _turn(card, begun.parsed, now)))
        changes = (begun, ended)
        written = _write_all(changes)
        workspace.wrote([change.card.path for change in written])
        action = Action.SUPERSEDED if written else Action.UNCHANGED
        return WriteResult(before.id, action, uri_of(workspace, before.id), hash_of(ended.after))


def history(workspace: Workspace, cards: Sequence[CardInfo], text: str) -> tuple[FactVersion, ...]:
    """All versions of the fact that a card tells, oldest first: what it superseded, and what superseded it.

    Args:
        workspace: the vault.
        cards: what it holds, ordered by id.
        text: id, path or address of the card.

    Raises:
        PathError: it names no card.
    """
    id, now = find(workspace, text, cards).id, workspace.clock()
    chain = _Chain(workspace.links, cards)
    versions = [card for found in chain.whole(id) if (card := card_at(cards, found)) is not None]
    is_card = partial(has_card, cards)
    return tuple(
        FactVersion(
            id=card.id,
            uri=card_uri(card.id, is_card),
            title=card.title,
            since=_since(card),
            until=card.valid_until,
            valid=validity(card, now, chain.replaced),
            supersedes=chain.before(card.id),
            superseded_by=chain.after(card.id),
        )
        for card in _oldest_first(versions, chain)
    )


class _Chain:
    """Which card took the place of which, whichever of the two says so. Names that lead nowhere are left out."""

    def __init__(self, links: SharedGraph, cards: Sequence[CardInfo]) -> None:
        self._links, self._cards = links, cards
        self._after: dict[str, dict[str, None]] = {}
        self._before: dict[str, dict[str, None]] = {}
        naming = [card for card in cards if card.supersedes or card.superseded_by]
        self.replaced = links.replaced(cards, naming)
        for card in naming:
            for name in card.supersedes:
                self._add(self.resolve(name, card.id), card.id)
            for name in card.superseded_by:
                self._add(card.id, self.resolve(name, card.id))

    def resolve(self, name: str, at: str) -> str | None:
        """The card that a key of the card ``at`` names."""
        return self._links.resolve(self._cards, name, at)

    def after(self, id: str) -> tuple[str, ...]:
        """Cards that took its place, ordered by id."""
        return tuple(sorted(self._after.get(id, ())))

    def before(self, id: str) -> tuple[str, ...]:
        """Cards whose place it took, ordered by id."""
        return tuple(sorted(self._before.get(id, ())))

    def later(self, id: str) -> set[str]:
        """All that came after it."""
        return _reach(id, self._after) - {id}

    def whole(self, id: str) -> set[str]:
        """The card, and all that came before or after it or one of these."""
        both = {key: {**self._after.get(key, {}), **self._before.get(key, {})} for key in self._after | self._before}
        return _reach(id, both)

    def _add(self, old: str | None, new: str | None) -> None:
        if old is not None and new is not None and old != new:
            self._after.setdefault(old, {})[new] = None
            self._before.setdefault(new, {})[old] = None


def _reach(id: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    found, waiting = {id}, [id]
    while waiting:
        new = [other for other in edges.get(waiting.pop(), ()) if other not in found]
        found.update(new)
        waiting.extend(new)
    return found


def _oldest_first(cards: Sequence[CardInfo], chain: _Chain) -> list[CardInfo]:
    """Superseded cards before those that took their place, else by date and id; a circle is cut at its oldest card."""
    waiting = sorted(cards, key=lambda card: (_since(card) or card.dated, card.id))
    ordered: list[CardInfo] = []
    while waiting:
        open_ids = {card.id for card in waiting}
        following = (card for card in waiting if not open_ids.intersection(chain.before(card.id)))
        card = next(following, waiting[0])
        waiting.remove(card)
        ordered.append(card)
    return ordered


def _since(card: CardInfo | Card) -> datetime | None:
    return card.valid_from or card.created


def _turn(old: Card, new: Card, now: datetime) -> datetime:
    """When the new card begins to hold in the place of the old one; now where the new one's dates cannot tell.

    Never before the old one began: its span ends where it begins when it was to hold later only.
    """
    begins, began = new.valid_from or min(new.created or now, now), _since(old)
    return max(now, began) if began is not None and begins <= began else begins


@dataclass(frozen=True, slots=True)
class _Change:
    card: Located
    parsed: Card
    before: bytes
    after: bytes


def _change(workspace: Workspace, located: Located, keys: Callable[[Card], dict[str, JsonValue]]) -> _Change:
    data = read_bytes(located)
    card = workspace.parser.parse(data, id=located.id, path=located.path)
    try:
        return _Change(located, card, data, set_keys(data, keys(card)))
    except CardError as error:
        raise CardError(error.message, path=located.path, line=error.line, key=error.key, hint=error.hint) from error


def _named(card: Card, key: str, id: str, chain: _Chain) -> dict[str, JsonValue]:
    """The key with one more card, unless it names that card already."""
    names: tuple[str, ...] = getattr(card, key)
    if any(chain.resolve(name, card.id) == id for name in names):
        return {}
    bare = id.removesuffix(".md")
    name = bare if chain.resolve(bare, card.id) == id else id
    everything: list[JsonValue] = [*names, name]
    return {key: everything if len(everything) > 1 or "," in name else name}


def _ended(card: Card, id: str, chain: _Chain, at: datetime) -> dict[str, JsonValue]:
    keys = _named(card, "superseded_by", id, chain)
    if card.valid_until is None or (keys and card.valid_until > at):
        keys["valid_until"] = moment_text(at, "valid_until")
    return keys


def _write_all(changes: Sequence[_Change]) -> list[_Change]:
    """Write what changes, all or nothing."""
    written: list[_Change] = []
    try:
        for change in changes:
            if change.after != change.before:
                write_atomic(change.card.file, change.after, expected_hash=hash_of(change.before))
                written.append(change)
    except BaseException:
        for change in written:
            put_back(change.card.file, change.before, change.after)
        raise
    return written
