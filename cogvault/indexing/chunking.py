"""A card to its chunks: the head first, then its body in pieces that fit the model. Pure.

Body chunks break at headings, blocks and dialogue turns. Every line that is not blank is in exactly one chunk, or, when
it is longer than the budget, in consecutive chunks that make it up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cogvault.cards import frontmatter, scan_markdown
from cogvault.cards.scan_markdown import Block, BlockKind
from cogvault.indexing.budget import TokenBudget
from cogvault.indexing.dialogue import CONTEXT_SHARE, in_context, turn_embedding, turn_terms
from cogvault.indexing.packing import Packer, Piece
from cogvault.text.dates import parse_date, parse_moment
from cogvault.text.normalise import fold
from cogvault.types import Card, Chunk, ChunkKind

__all__ = ["CHUNKER_VERSION", "TokenBudget", "chunk_card", "text_terms"]

CHUNKER_VERSION = f"3.{scan_markdown.VERSION}"


def chunk_card(card: Card, *, budget: TokenBudget) -> tuple[Chunk, ...]:
    """Chunks of a card; the head chunk is always the first and, for a card without text, the only one."""
    lines = card.body.split("\n")
    body: list[Chunk] = []
    for section in _sections(_blocks(card, lines)):
        make = _text_chunks if section.turn is None else _turn_chunks
        body.extend(make(card, section, lines, budget, len(body) + 1))
    return (_head(card, budget, alone=not body), *in_context(body, budget))


def text_terms(headings: Sequence[str], text: str) -> str:
    """What the keyword index analyzes of a text chunk: its heading path, then its lines."""
    return "\n".join([*headings, text])


@dataclass(slots=True)
class _Section:
    """Blocks below one heading, or of one dialogue turn there.

    Attributes:
        path: heading path.
        lead: headings that stand in front of the blocks: the section's own, and parents without text of their own.
        turn: the block that opens the turn, None for other text.
    """

    path: tuple[str, ...] = ()
    lead: list[Block] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    turn: Block | None = None


def _blocks(card: Card, lines: Sequence[str]) -> Sequence[Block]:
    """Blocks of the body; a frontmatter block left in it (``strip_frontmatter=False``) is one, as it stands."""
    cut = frontmatter.split(card.body) if card.body_line == 1 else None
    if cut is None or cut.state is not frontmatter.State.CLOSED:
        return scan_markdown.blocks_of(card.body)
    raw = cut.body_line - 1
    below = scan_markdown.scan(lines[raw:])
    moved = [block._replace(start=block.start + raw, end=block.end + raw) for block in below]
    return [Block(BlockKind.CODE, 0, raw, 0), *moved]


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    path: list[Block] = []
    current = _Section()
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            above = current.lead[-1].level if current.lead and not current.blocks else 6
            if block.level <= above:
                yield current
                current = _Section()
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
            current.path = tuple(heading.text for heading in path if heading.text)
            current.lead.append(block)
        elif block.kind is BlockKind.TURN:
            if current.blocks:
                yield current
                current = _Section(current.path)
            current.turn = block
            current.blocks.append(block)
        else:
            current.blocks.append(block)
    yield current


def _text_chunks(
    card: Card, section: _Section, lines: Sequence[str], budget: TokenBudget, position: int
) -> Iterator[Chunk]:
    # The first heading often repeats the title, whose words are the head chunk's.
    headings = section.path[1:] if section.path and fold(section.path[0]) == fold(card.title) else section.path
    context = " > ".join(part for part in (card.title, *headings) if _has_letters(part))
    context = budget.clip(context, budget.max_tokens // CONTEXT_SHARE)
    packer = _packer(context, lines, budget)
    for offset, piece in enumerate(packer.pack(section.lead, section.blocks)):
        text = packer.text(piece)
        yield Chunk(
            position=position + offset,
            kind=ChunkKind.TEXT,
            text=text,
            terms_text=text_terms(headings, text),
            embed_text=_embedding(f"{context}\n{text}" if context else text, text, budget),
            start_line=card.body_line + piece.start,
            end_line=card.body_line + piece.end - 1,
            heading=section.path,
        )


def _turn_chunks(
    card: Card, section: _Section, lines: Sequence[str], budget: TokenBudget, position: int
) -> Iterator[Chunk]:
    turn = section.turn
    assert turn is not None
    said_at, at = parse_moment(turn.at), parse_date(turn.at)
    speaker = budget.clip(turn.text, budget.max_tokens // CONTEXT_SHARE)
    packer = _packer(turn_embedding(speaker, ""), lines, budget)
    for offset, piece in enumerate(packer.pack(section.lead, section.blocks)):
        said = _said(piece, turn, lines)
        leads = tuple(block.text for block in section.lead if piece.start <= block.start < piece.end)
        yield Chunk(
            position=position + offset,
            kind=ChunkKind.TURN,
            text=packer.text(piece),
            terms_text=turn_terms(turn.text, said, said_at, leads),
            embed_text=_embedding(turn_embedding(speaker, said), said, budget),
            start_line=card.body_line + piece.start,
            end_line=card.body_line + piece.end - 1,
            heading=section.path,
            speaker=turn.text,
            at=at,
        )


def _said(piece: Piece, turn: Block, lines: Sequence[str]) -> str:
    """What is said in a piece of a turn: its text without headings and without the speaker's mark."""
    if piece.text is not None:
        mark = turn.offset - piece.column if piece.start == turn.start else 0
        return piece.text[max(0, mark) :].strip()
    text = "\n".join(lines[max(piece.start, turn.start) : piece.end])
    return (text[turn.offset :] if piece.start <= turn.start else text).strip()


def _packer(context: str, lines: Sequence[str], budget: TokenBudget) -> Packer:
    """A packer that leaves room for a context line."""
    used = budget.bound(context)
    if used > budget.max_tokens // CONTEXT_SHARE:
        used = budget.count([context])[0]
    return Packer(lines, budget, budget.max_tokens - used - 1)


def _head(card: Card, budget: TokenBudget, *, alone: bool) -> Chunk:
    """The card's own description of itself. It is embedded when it says more than the title, or nothing else does."""
    tags = " ".join(f"#{tag}" for tag in card.tags)
    lines = _distinct([card.title, card.name or "", ", ".join(card.aliases), card.description, tags])
    path = card.id[:-3] if card.id[-3:].lower() == ".md" else card.id
    terms = _distinct(
        [card.title, card.name or "", *card.aliases, card.description, " ".join(card.tags), *path.split("/")]
    )
    summary = ". ".join(part for part in (card.title, card.description) if part)
    telling = bool(card.description or alone) and _has_letters(summary)
    return Chunk(
        position=0,
        kind=ChunkKind.HEAD,
        text="\n".join(lines),
        terms_text="\n".join(terms),
        embed_text=budget.clip(summary, budget.max_tokens) if telling else "",
        start_line=1,
        end_line=max(1, card.body_line - 1),
    )


def _embedding(full: str, text: str, budget: TokenBudget) -> str:
    """What the model reads of a chunk; "" when there is nothing to read."""
    if not any(char.isalnum() for char in text):
        return ""
    return full if budget.fits(full, budget.max_tokens) else budget.clip(text, budget.max_tokens)


def _distinct(parts: Sequence[str]) -> list[str]:
    """Parts that are not empty, each once whatever its case."""
    kept: dict[str, str] = {}
    for part in filter(None, parts):
        kept.setdefault(fold(part), part)
    return list(kept.values())


def _has_letters(text: str) -> bool:
    return any(char.isalpha() for char in text)
