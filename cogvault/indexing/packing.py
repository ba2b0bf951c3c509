"""Runs of lines packed into pieces that fit a budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from cogvault.cards.scan_markdown import Block
from cogvault.indexing.budget import TokenBudget
from cogvault.layers.tokens import estimate_tokens as typical_tokens
from cogvault.text.sentences import ends_sentence, sentence_pieces


class Piece(NamedTuple):
    """Lines that become a chunk, or a part of one line.

    Attributes:
        start: index of the first line.
        end: index after the last one.
        size: typical tokens.
        text: the part of a line that was cut, None for whole lines.
        column: where that part begins.
    """

    start: int
    end: int
    size: int
    text: str | None = None
    column: int = 0


class Packer:
    """Packs blocks of one section, coarse to fine: blocks, then the blocks of a list, lines up to a sentence's end,
    single lines, sentences, words, characters. What fits is never cut.

    Args:
        lines: all lines of the body.
        budget: limits.
        room: tokens that a piece may have.
    """

    def __init__(self, lines: Sequence[str], budget: TokenBudget, room: int) -> None:
        self._lines = lines
        self._budget = budget
        self._room = room
        self._target = min(room, budget.target_tokens)

    def pack(self, lead: Sequence[Block], blocks: Sequence[Block]) -> list[Piece]:
        """Pieces of a section in order. ``lead``, its headings, joins the first piece where that fits."""
        groups = [list(group) for _, group in groupby(blocks, key=lambda block: block.group)]
        parts = {group[0].start: group for group in groups}
        spans = ((group[0].start, group[-1].end) for group in groups)
        pieces = list(self._pack(spans, lambda start, _: self._blocks(parts[start])))
        if lead:
            start, end = lead[0].start, lead[-1].end
            first = pieces[0] if pieces and pieces[0].text is None else None
            if first is not None and self._fits(start, first.end):
                pieces[0] = Piece(start, first.end, self._size(start, first.end))
            else:
                pieces[:0] = self._pack([(start, end)], self._by_sentence)
        return pieces

    def text(self, piece: Piece) -> str:
        """A piece's text as it stands in the body."""
        return "\n".join(self._lines[piece.start : piece.end]) if piece.text is None else piece.text

    def _pack(self, spans: Iterable[tuple[int, int]], finer: Callable[[int, int], Iterator[Piece]]) -> Iterator[Piece]:
        """Join neighbors up to the target; what does not fit alone is handed to ``finer``."""
        open_piece: Piece | None = None
        for start, end in spans:
            size = self._size(start, end)
            joined = open_piece is not None and open_piece.size + size <= self._target
            if open_piece is not None and joined and self._fits(open_piece.start, end):
                open_piece = Piece(open_piece.start, end, open_piece.size + size)
                continue
            if open_piece is not None:
                yield open_piece
                open_piece = None
            if self._fits(start, end):
                open_piece = Piece(start, end, size)
            else:
                yield from finer(start, end)
        if open_piece is not None:
            yield open_piece

    def _blocks(self, blocks: Sequence[Block]) -> Iterator[Piece]:
        return self._pack(((block.start, block.end) for block in blocks), self._by_sentence)

    def _by_sentence(self, start: int, end: int) -> Iterator[Piece]:
        """Lines of one block, kept together up to one that ends a sentence."""
        spans: list[tuple[int, int]] = []
        first = start
        for index in range(start, end):
            if index == end - 1 or ends_sentence(self._lines[index]):
                spans.append((first, index + 1))
                first = index + 1
        return self._pack(spans, self._by_line)

    def _by_line(self, start: int, end: int) -> Iterator[Piece]:
        spans = ((index, index + 1) for index in range(start, end) if self._lines[index].strip())
        return self._pack(spans, self._inside)

    def _inside(self, start: int, end: int) -> Iterator[Piece]:
        """Parts of one line: sentences joined up to the target, then words, then characters."""
        column = 0
        for text in self._sentences(self._lines[start]):
            if text.strip():
                yield Piece(start, end, typical_tokens(text), text, column)
            column += len(text)

    def _sentences(self, line: str) -> Iterator[str]:
        waiting: list[str] = []
        size = 0
        for piece in sentence_pieces(line):
            more = typical_tokens(piece)
            if waiting and size + more > self._target:
                yield "".join(waiting)
                waiting, size = [], 0
            if more > self._target and not self._budget.fits(piece, self._room):
                yield from self._budget.runs(piece, self._target)
            else:
                waiting.append(piece)
                size += more
        if waiting:
            yield "".join(waiting)

    def _size(self, start: int, end: int) -> int:
        return typical_tokens("\n".join(self._lines[start:end]))

    def _fits(self, start: int, end: int) -> bool:
        return self._budget.fits("\n".join(self._lines[start:end]), self._room)
