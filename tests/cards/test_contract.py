"""The card parser keeps the contract of one."""

from __future__ import annotations

from cogvault.cards import MarkdownCardParser
from cogvault.protocols import CardParser
from cogvault.testing import ParserContract


class TestMarkdown(ParserContract):
    def make_parser(self) -> CardParser:
        return MarkdownCardParser()


class TestMarkdownWithRawFrontmatter(ParserContract):
    def make_parser(self) -> CardParser:
        return MarkdownCardParser(strip_frontmatter=False)
