"""How a vault's cards become chunks for its model, and the fingerprint of that."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cogvault.embedders.estimate import estimate_tokens as most_tokens
from cogvault.errors import ModelError
from cogvault.indexing.budget import TokenBudget
from cogvault.indexing.chunking import CHUNKER_VERSION, chunk_card
from cogvault.layers.tokens import estimate_tokens as typical_tokens
from cogvault.protocols import Embedder
from cogvault.types import Card, Chunk

__all__ = ["Chunker", "chunker_for", "likely_bound"]

# Prefix and special tokens, which a chunk leaves room for.
_RESERVED_TOKENS = 16
_SMALLEST_WINDOW = 16
# The window that chunks are made for while there is no model.
_DEFAULT_WINDOW = 512
# Languages need up to 1.75 times the typical length; digits, marks and emoji may be tokens of their own, and long runs
# without a blank (hashes, base64) are cut anywhere.
_LANGUAGE_FACTOR = 2
_COSTLY = re.compile(r"[^\w\s]|\d|\S{25,}")
_LONG_RUN = 25
_COSTLY_CHARACTER = re.compile(r"[^\w\s]|\d")
_COSTLY_ASCII = "".join(filter(_COSTLY_CHARACTER.match, map(chr, range(128)))).encode()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chunker:
    """How cards become chunks.

    Attributes:
        version: changes whenever the same card may give other chunks for the same model.
        model: names the model whose tokens limit the chunks, "" = no model: chunks made for any model will do.
        chunk: the chunks of a card, the head chunk first.
    """

    version: str
    model: str
    chunk: Callable[[Card], Sequence[Chunk]]

    def fingerprint(self, parser: str) -> str:
        """What an index is marked with. Args: ``parser``: version of the parser."""
        return f"{parser} {self.version} | {self.model}"

    def accepts(self, marked: str, parser: str) -> bool:
        """True when chunks of an index marked so need not be made again."""
        return marked == self.fingerprint(parser) or (not self.model and marked.startswith(self.fingerprint(parser)))


def chunker_for(embedder: Embedder | None, target_tokens: int) -> Chunker:
    """The chunker for a model; loads it only when a text comes near its window.

    Args:
        embedder: the model, None = none; one that cannot even tell its window is none.
        target_tokens: typical size of a chunk.
    """
    try:
        window = _DEFAULT_WINDOW if embedder is None else embedder.max_tokens
    except ModelError as error:
        _log.warning("chunks are made without the model: %s", error)
        return chunker_for(None, target_tokens)
    room = max(_SMALLEST_WINDOW, window - _RESERVED_TOKENS)
    count = likely_bound_each if embedder is None else _Counter(embedder, room // 4)
    budget = TokenBudget(room, count, likely_bound, min(target_tokens, room))
    return Chunker(
        version=f"chunks-{CHUNKER_VERSION}-{target_tokens}",
        model="" if embedder is None else f"{embedder.name} {window}",
        chunk=lambda card: chunk_card(card, budget=budget),
    )


def likely_bound(text: str) -> int:
    """A length in tokens that running text, code and data do not exceed; models cut what does."""
    return min(most_tokens(text), _LANGUAGE_FACTOR * typical_tokens(text) + costly_characters(text))


def costly_characters(text: str) -> int:
    """How many characters may be tokens of their own, or stand in a long run without a blank."""
    if max(map(len, text.split()), default=0) >= _LONG_RUN:
        return len(text) - len(_COSTLY.sub("", text))
    if text.isascii():  # most texts, a hundred times faster
        return len(text) - len(text.encode().translate(None, _COSTLY_ASCII))
    return len(text) - len(_COSTLY_CHARACTER.sub("", text))


def likely_bound_each(texts: Sequence[str]) -> list[int]:
    """``likely_bound`` of each text."""
    return [likely_bound(text) for text in texts]


class _Counter:
    """Counts in a model's tokens: short texts by their bound, and all of them once the model cannot be had."""

    def __init__(self, embedder: Embedder, short_tokens: int) -> None:
        self._embedder = embedder
        self._short_tokens = short_tokens
        self._is_broken = False

    def __call__(self, texts: Sequence[str]) -> list[int]:
        bounds = likely_bound_each(texts)
        if self._is_broken or max(bounds, default=0) <= self._short_tokens:
            return bounds
        try:
            return self._embedder.count_tokens(texts)
        except ModelError as error:
            _log.warning("chunks are measured without the model: %s", error)
            self._is_broken = True
            return bounds
