"""Cards as resources."""

from __future__ import annotations

import mcp_types as types

from cogvault_mcp.memory import Memory
from cogvault_mcp.window import window

__all__ = ["TEMPLATE", "listed", "resource"]

PAGE = 100
_TOKENS = 32_000
_MIME = "text/markdown"

TEMPLATE = types.ResourceTemplate(
    name="card",
    title="Memory card",
    uri_template="cogvault://{+path}",
    description="One card by its address, such as cogvault://resources/deploy.md",
    mime_type=_MIME,
)


def listed(memory: Memory, cursor: str) -> types.ListResourcesResult:
    """One page of cards, ordered by id.

    Args:
        cursor: id of the last card of the page before, "" = from the start.
    """
    cards = memory.vault().list(after=cursor, limit=PAGE + 1)  # one more tells whether there is another page
    page = cards[:PAGE]
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                name=card.id,
                title=card.title,
                uri=card.uri,
                mime_type=_MIME,
                size=card.size,
            )
            for card in page
        ],
        next_cursor=page[-1].id if len(cards) > len(page) else None,
    )


def resource(memory: Memory, uri: str) -> types.ReadResourceResult:
    """The text of a card, between markers: it is data. Of a long one its beginning, and how to read the rest.

    Raises:
        PathError: the address names no card.
    """
    text = window(memory.vault().read(uri), 0, _TOKENS).text
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_MIME, text=text)])
