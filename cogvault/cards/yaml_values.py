"""One value as YAML in one line, so that cogvault and other programs read the same out of it. Pure."""

from __future__ import annotations

import re
import sys

import yaml

from cogvault.text.dates import parse_date
from cogvault.types import JsonValue

__all__ = ["DATE_KEYS", "format_value"]

# Keys whose text is a date, written without quotes as people and other programs write dates.
DATE_KEYS = frozenset({"created", "updated", "date", "valid_from", "valid_until", "review_by"})

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9]{2}:[0-9]{2})?)?")


def format_value(value: JsonValue, *, key: str = "", quotes: str | None = None) -> str:
    """The value in one line.

    Args:
        value: what is to be written.
        key: the key it belongs to: dates under keys of dates stay without quotes.
        quotes: ``"`` or ``'`` for text that is to stand in these, when it can.
    """
    if key in DATE_KEYS and isinstance(value, str) and _DATE.fullmatch(value) and parse_date(value):
        return value
    style = quotes if isinstance(value, str) else None
    if isinstance(value, str) and "\n" in value:
        style = '"'
    text = yaml.safe_dump(
        value, default_style=style, default_flow_style=True, width=sys.maxsize, allow_unicode=True, sort_keys=False
    )
    return text.removesuffix("\n").removesuffix("\n...")
