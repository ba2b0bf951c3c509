"""The parser of Markdown cards: bytes to ``Card``. Pure; whatever is wrong becomes a problem of the card."""

from __future__ import annotations

from collections.abc import Sequence

from cogvault.cards import fields, frontmatter, scan_markdown
from cogvault.cards.decoding import decode, scrub
from cogvault.cards.link_spans import link_spans
from cogvault.cards.scan_markdown import Block, BlockKind, blocks_of
from cogvault.types import Card, Problem

_VERSION = "3"


class MarkdownCardParser:
    """Parses Markdown with YAML frontmatter.

    Args:
        strip_frontmatter: leave the frontmatter block out of the body; False indexes it raw as well.
    """

    def __init__(self, *, strip_frontmatter: bool = True) -> None:
        self._strip = strip_frontmatter

    @property
    def version(self) -> str:
        """Changes whenever the same bytes may give another card."""
        return f"markdown-{_VERSION}.{scan_markdown.VERSION}{'' if self._strip else '-raw'}"

    def parse(self, data: bytes, *, id: str, path: str) -> Card:
        """See ``protocols.CardParser``."""
        decoded = decode(data)
        cut = frontmatter.split(decoded.text)
        block = frontmatter.parse(cut.block) if cut.state is frontmatter.State.CLOSED else frontmatter.Frontmatter()
        known = fields.read(block)
        lines = cut.body.split("\n")
        blocks = blocks_of(cut.body)
        problems = [Problem(path, fault.code, fault.message, fault.line, fault.key) for fault in known.faults]
        if decoded.problem is not None:
            problems.insert(0, Problem(path, decoded.problem, decoded.message, decoded.line))
        if cut.state is frontmatter.State.UNTERMINATED:
            message = "the frontmatter opens on line 1 and never closes; the whole file is read as text"
            problems.append(Problem(path, "frontmatter-unterminated", message, 1))
        raw = not self._strip and cut.state is frontmatter.State.CLOSED
        return Card(
            id=id,
            path=path,
            title=known.title or known.name or _first_heading(blocks) or _stem(id),
            body=decoded.text if raw else cut.body,
            body_line=1 if raw else cut.body_line,
            name=known.name,
            description=known.description,
            type=known.type,
            tags=known.tags,
            aliases=known.aliases,
            created=known.created,
            updated=known.updated,
            dated=known.date or known.updated or known.created,
            valid_from=known.valid_from,
            valid_until=known.valid_until,
            supersedes=known.supersedes,
            superseded_by=known.superseded_by,
            importance=known.importance,
            pinned=known.pinned,
            source=known.source,
            meta=block.values,
            links=tuple(span.link for span in link_spans(cut.body, lines, blocks, cut.body_line)),
            problems=tuple(problems),
            writable=decoded.problem is None and block.valid and cut.state is not frontmatter.State.UNTERMINATED,
        )


def _first_heading(blocks: Sequence[Block]) -> str:
    return next((block.text for block in blocks if block.kind is BlockKind.HEADING and block.text), "")


def _stem(id: str) -> str:
    name = scrub(id).rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" and len(name) > 3 else name
