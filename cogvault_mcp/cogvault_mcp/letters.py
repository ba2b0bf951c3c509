"""Frames in which a client left half a letter, as one in JavaScript does when it cuts a text within an emoji. Pure."""

from __future__ import annotations

import json

__all__ = ["with_whole_letters"]


def with_whole_letters(text: str) -> str:
    """JSON without a byte order mark before it, and with a mark of replacement for each half of a letter.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    frame = json.dumps(json.loads(text.removeprefix("\ufeff")), ensure_ascii=False)
    return frame.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
