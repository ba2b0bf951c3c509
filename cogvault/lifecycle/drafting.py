"""A draft to the bytes of a card. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cogvault.cards import frontmatter
from cogvault.cards.edit import set_keys
from cogvault.cards.edit_frontmatter import new_block
from cogvault.cards.frontmatter import State
from cogvault.cards.key_names import with_nested
from cogvault.cards.slugs import slug
from cogvault.cards.source_text import checked_text, open_source
from cogvault.errors import CardError
from cogvault.lifecycle.naming import derived_description, derived_title
from cogvault.lifecycle.values import check_span, checked_importance, checked_value, checked_words, masked, moment_text
from cogvault.protocols import CardParser
from cogvault.text.secrets import redact
from cogvault.types import EMPTY_META, Card, Draft, JsonValue, Problem

__all__ = ["DEFAULT_TYPE", "MAX_STEM_BYTES", "MAX_WRITE_BYTES", "Drafted", "draft_card"]

# What one call may write. Larger texts are files to be copied into the vault, not memories.
MAX_WRITE_BYTES = 256 * 1024
DEFAULT_TYPE = "note"
MAX_STEM_BYTES = 120
_MAX_TYPE_BYTES = 30
_NOT_WRITTEN = "the text is stored already, and its {} stays {!r}: change it with update"
# Left in progress output that somebody pasted; in a file it would count as the end of a line here and there.
_LONE_CR = re.compile(r"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Drafted:
    """A card that is ready but for its name.

    Attributes:
        body: what is compared with other cards; the title of a card without text.
        title: its title.
        stem: ``type_slug``, the name it should have.
        values: what is missing in the content's own frontmatter, or all when it has none; ``name`` comes on top.
        data: the content's bytes.
        said: what caller and content say of the card themselves, by key.
        problems: arguments that the content's own frontmatter overruled.
    """

    body: str
    title: str
    stem: str
    values: Mapping[str, JsonValue]
    data: bytes
    said: Mapping[str, JsonValue]
    problems: tuple[Problem, ...] = ()

    def not_in(self, card: Card) -> tuple[Problem, ...]:
        """What a card that has the same text already does not say."""
        known = with_nested(card.meta)
        return tuple(
            Problem(card.path, "argument-not-written", _NOT_WRITTEN.format(key, known.get(key)), key=key)
            for key, value in self.said.items()
            if key not in ("name", "created", "metadata") and str(known.get(key)) != str(value)
        )

    def with_name(self, name: str) -> bytes:
        """The card's bytes.

        Args:
            name: value of its ``name`` key, unless the content has one.
        """
        values = {"name": name, **self.values}
        source = open_source(self.data)
        if source.cut.state is State.NONE:
            head = new_block(values) + (b"\n" if self.data else b"")
            return head.replace(b"\n", source.newline.encode()) + self.data
        return set_keys(self.data, values)


def draft_card(draft: Draft, parser: CardParser, created: str, max_bytes: int) -> Drafted:
    """Check a draft and find what its card will hold.

    Args:
        draft: what the caller gave.
        parser: bytes to cards.
        created: value of ``created``.
        max_bytes: larger contents are refused.

    Raises:
        CardError: there is nothing to write, too much, or frontmatter that cannot be completed.
    """
    content = _LONE_CR.sub("\n", draft.content.removeprefix("\ufeff"))
    if draft.redact:
        content = redact(content)
        if draft.to is not None and redact(draft.to) != draft.to:
            raise CardError("the card's place looks like a secret", key="to", hint="name another")
    is_ended = not content or checked_text(content).endswith("\n")
    data = content.encode() + (b"" if is_ended else b"\n")
    if len(data) > max_bytes:
        hint = "split it, or copy the file into the vault"
        raise CardError(f"the content has {len(data)} bytes, and one write at most {max_bytes}", hint=hint)
    own = _own(data, parser)
    given = _given(draft)
    if not own.body.strip() and not own.title and "title" not in given:
        raise CardError("there is nothing to write: no text and no title", hint="pass content")
    said = own.title if own.meta.get("title") or own.name else str(given.get("title") or "")
    title = said or derived_title(own.body)
    type = own.type or str(given.get("type") or DEFAULT_TYPE)
    described = replace(own, title=title)
    values: dict[str, JsonValue] = {
        "title": title,
        "description": derived_description(described),
        "type": type,
        "created": created,
        **given,
    }
    kept, problems = _missing(values, given, own.meta)
    check_span({**own.meta, **kept})
    stem = _stem(type, own.name or title)
    return Drafted(own.body.strip() or title, title, stem, kept, data, {**given, **own.meta}, problems)


def _own(data: bytes, parser: CardParser) -> Card:
    """The content as a card.

    Raises:
        CardError: it starts as frontmatter does, and cannot be read as such.
    """
    source = open_source(data)
    card = parser.parse(data, id="", path="")
    if source.cut.state is State.UNTERMINATED:
        hint = "close it with a line of three dashes, or start the text with a blank line"
        raise CardError("the content's frontmatter opens on its first line and never closes", line=1, hint=hint)
    if source.cut.state is State.CLOSED and not (block := frontmatter.parse(source.cut.block)).valid:
        fault = block.faults[0]
        raise CardError(fault.message, line=fault.line, key=fault.key, hint="correct the content's frontmatter")
    return card


def _given(draft: Draft) -> dict[str, JsonValue]:
    """What the caller said, in the order in which it is written."""
    title = None if draft.title is None else " ".join(draft.title.split())
    values: dict[str, JsonValue] = {
        "title": title or None,
        "description": None if draft.description is None else " ".join(draft.description.split()) or None,
        "type": None if draft.type is None else " ".join(draft.type.split()) or None,
        "created": None,
        "tags": checked_words(draft.tags) or None,
        "importance": checked_importance(draft.importance),
        "pinned": draft.pinned,
        "valid_from": moment_text(draft.valid_from, "valid_from"),
        "valid_until": moment_text(draft.valid_until, "valid_until"),
        "source": draft.source,
    }
    for key, value in (draft.meta or EMPTY_META).items():
        if values.get(key) is None:
            values[key] = checked_value(value, key)
    found: dict[str, JsonValue] = {key: value for key, value in values.items() if value is not None}
    return {key: masked(value, key) for key, value in found.items()} if draft.redact else found


def _missing(
    values: Mapping[str, JsonValue], given: Mapping[str, JsonValue], own: Mapping[str, JsonValue]
) -> tuple[dict[str, JsonValue], tuple[Problem, ...]]:
    """Values that the content has not, and arguments that it contradicts."""
    known = with_nested(own)
    kept = {key: value for key, value in values.items() if known.get(key) is None}
    problems = tuple(
        Problem("", "argument-overruled", f"the content's own frontmatter says {key}: {known[key]!r}", key=key)
        for key, value in given.items()
        if key not in kept and known[key] != value
    )
    return kept, problems


def _stem(type: str, title: str) -> str:
    prefix = slug(type, _MAX_TYPE_BYTES)
    return f"{prefix}_{slug(title, MAX_STEM_BYTES - len(prefix.encode()) - 1)}"
