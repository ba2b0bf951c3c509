"""L0 and L1 of folders, from those of what is in them. Pure.

A folder's hash covers the names and hashes of its children, folders included, so that a change reaches the root and
nothing beside its way. The folders after a roll-up are the same whatever was there before.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from cogvault.layers.abstract import ABSTRACT_TOKENS
from cogvault.layers.centrality import centrality, pick, spread, terms, words
from cogvault.layers.overview import MAX_TOKENS
from cogvault.layers.tokens import clip, estimate_tokens
from cogvault.text.sentences import sentences as split_sentences
from cogvault.types import CardLayers

ROLLUP_VERSION = "3"
# The vault itself.
ROOT = ""
# A folder with more children is represented by an even spread of them.
MAX_CHILDREN = 200
# Less than this says nothing of a child: fewer are shown instead.
_MIN_CHILD_TOKENS = 25
_HEADING = re.compile(r"^(#{1,4}) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FolderLayers:
    """Layers of one folder. ``hash`` covers everything they were made from."""

    hash: str
    abstract: str
    overview: str


@dataclass(frozen=True, slots=True)
class RollupChange:
    """What has to change so that every folder has the layers of its present children.

    Attributes:
        put: new or changed folders, by path without a slash at the end; ``""`` is the vault.
        remove: folders that hold no card any more.
        skipped: folders that stay as they are.
    """

    put: Mapping[str, FolderLayers]
    remove: tuple[str, ...]
    skipped: int


Layers: TypeAlias = CardLayers | FolderLayers
# Layers of the cards or folders with these ids or paths, in this order.
Reader: TypeAlias = Callable[[Sequence[str]], Sequence[CardLayers]]


def roll_up(
    cards: Mapping[str, str],
    previous: Mapping[str, str],
    card_layers: Reader,
    folder_layers: Reader,
    *,
    labels: Mapping[str, str] = MappingProxyType({}),
    estimate: Callable[[str], int] = estimate_tokens,
) -> RollupChange:
    """Layers of all folders above some cards; only folders with a changed child are made anew.

    Args:
        cards: every card of the vault: its id, a relative path with ``/``, and a hash that changes whenever its layers
            may.
        previous: the folders as they are: path and hash.
        card_layers: asked for those cards only that a folder made anew shows.
        folder_layers: asked for unchanged folders below one that is made anew.
        labels: what a reader has to know of a card, by id, such as ``superseded``; its hash in ``cards`` covers it.
        estimate: length of a text in tokens.
    """
    inside = _tree(cards)
    hashes: dict[str, str] = {}
    put: dict[str, FolderLayers] = {}

    def layers_of(children: Sequence[tuple[str, str]]) -> list[Layers]:
        ids = [path for name, path in children if not name.endswith("/")]
        kept = [path for name, path in children if name.endswith("/") and path not in put]
        of_card = dict(zip(ids, card_layers(ids), strict=True))
        of_folder: dict[str, Layers] = {**dict(zip(kept, folder_layers(kept), strict=True)), **put}
        return [of_folder[path] if name.endswith("/") else of_card[path] for name, path in children]

    # Deepest first, so that a folder's folders are done before it.
    for folder in sorted(inside, key=lambda path: (-path.count("/") if path else 1, path)):
        children = inside[folder]
        digest = _hash((name, hashes[path] if name.endswith("/") else cards[path]) for name, path in children)
        hashes[folder] = digest
        if previous.get(folder) != digest:
            shown = spread(children, MAX_CHILDREN)
            parts = [
                _labelled(name, layers, labels.get(path, ""))
                for (name, path), layers in zip(shown, layers_of(shown), strict=True)
            ]
            put[folder] = FolderLayers(digest, _abstract(parts, estimate), _overview(parts, len(children), estimate))
    removed = tuple(sorted(previous.keys() - inside.keys()))
    return RollupChange(put, removed, len(inside) - len(put))


def _labelled(name: str, layers: Layers, label: str) -> tuple[str, Layers]:
    """A child and its layers, which tell the label wherever they stand."""
    if not label:
        return name, layers
    abstract = f"({label}) {layers.abstract}" if layers.abstract else ""
    return f"{name} ({label})", CardLayers(abstract, layers.overview)


def _tree(ids: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Each folder's children as (name, path), folders with a slash at the end of their name, in order of name."""
    inside: dict[str, dict[str, str]] = {}
    for card in ids:
        path, name = card, card.rpartition("/")[2]
        while True:
            folder = path.rpartition("/")[0]
            known = folder in inside
            inside.setdefault(folder, {})[name] = path
            if known or not folder:
                break
            path, name = folder, folder.rpartition("/")[2] + "/"
    return {folder: sorted(names.items()) for folder, names in inside.items()}


def _hash(parts: Iterable[tuple[str, str]]) -> str:
    state = hashlib.sha256(ROLLUP_VERSION.encode())
    for name, digest in parts:
        state.update(f"\0{name}\0{digest}".encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def _abstract(parts: Sequence[tuple[str, Layers]], estimate: Callable[[str], int]) -> str:
    """The beginnings of the children's abstracts that say most of all of them, in order of name."""
    share = max(_MIN_CHILD_TOKENS, ABSTRACT_TOKENS // max(1, len(parts)))
    first = [_opening(layers.abstract, share, estimate) for _, layers in parts]
    stems = [terms(words(sentence)) for sentence in first]
    scores = centrality(stems)
    order = sorted(range(len(first)), key=lambda index: (-scores[index], index))
    chosen = pick(order, stems, lambda index: estimate(first[index] + " "), ABSTRACT_TOKENS)
    if not chosen and order:
        return clip(first[order[0]], ABSTRACT_TOKENS, estimate)
    return " ".join(first[index] for index in chosen if first[index])


def _opening(text: str, share: int, estimate: Callable[[str], int]) -> str:
    """The first sentence, and more as long as they fit: of a dialogue the first one only says who spoke."""
    opening, *more = list(split_sentences(text)) or [text]
    for sentence in more:
        longer = f"{opening} {sentence}"
        if estimate(longer) > share:
            break
        opening = longer
    return opening


def _overview(parts: Sequence[tuple[str, Layers]], total: int, estimate: Callable[[str], int]) -> str:
    """Every child under its name with an equal share of the tokens: its overview if that fits, else its abstract."""
    room = MAX_TOKENS
    shown: list[str] = []
    for number, (name, layers) in enumerate(parts):
        share = max(_MIN_CHILD_TOKENS, room // (len(parts) - number))
        head = f"## {name}\n\n"
        left = share - estimate(head + "\n\n")
        overview = _HEADING.sub(r"##\1 ", layers.overview)
        text = overview if overview and estimate(overview) <= left else clip(layers.abstract, left, estimate)
        piece = (head + text).rstrip()
        cost = estimate(piece + "\n\n")
        if cost > room - _MIN_CHILD_TOKENS:
            break
        shown.append(piece)
        room -= cost
    if len(shown) < total:
        shown.append(f"… {total - len(shown)} more")
    return "\n\n".join(shown)
