"""Cards: what a Markdown file says, and how cards name each other."""

from __future__ import annotations

from cogvault.cards.link_spans import LinkSpan, find_links
from cogvault.cards.links import LinkResolver, Resolution
from cogvault.cards.markdown import MarkdownCardParser
from cogvault.cards.slugs import slug

__all__ = ["LinkResolver", "LinkSpan", "MarkdownCardParser", "Resolution", "find_links", "slug"]
