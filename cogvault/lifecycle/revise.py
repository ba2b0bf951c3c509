"""Changing a card: its body, a section, its frontmatter keys, and nothing that was not named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cogvault.cards.decoding import decode
from cogvault.cards.edit import append_body, append_section, replace_body, replace_section, set_keys
from cogvault.cards.writer import hash_of, write_atomic
from cogvault.errors import CardError, ConflictError
from cogvault.lifecycle.drafting import MAX_WRITE_BYTES
from cogvault.lifecycle.files import check_size, read_bytes
from cogvault.lifecycle.naming import derived_description, derived_title
from cogvault.lifecycle.uris import Located, find, uri_of
from cogvault.lifecycle.values import SPAN_KEYS, check_span, checked_value, masked, unread_keys
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import CardParser, Snapshot
from cogvault.text.secrets import found_in, redact
from cogvault.types import EMPTY_META, Action, Card, JsonValue, SecretFound, WriteResult

__all__ = ["Change", "Reviser", "changed"]

# An editor that writes in the very moment of a change is waited for so often.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What is to change in one card.

    Attributes:
        body: new text, of the section or of the whole body.
        section: heading of the section meant, None = the body.
        append: text for the end of the section or body.
        set: frontmatter keys with their new values.
        unset: frontmatter keys to take away.
        redact: mask what looks like a secret in the new text first.
    """

    body: str | None = None
    section: str | None = None
    append: str | None = None
    set: Mapping[str, object] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    redact: bool = False


class Reviser:
    """Changes cards of one vault. Safe to share between threads.

    Args:
        workspace: the vault.
        known: what the index holds now, without waiting for what was just written.
    """

    def __init__(self, workspace: Workspace, known: Callable[[], Snapshot]) -> None:
        self._workspace = workspace
        self._known = known

    def update(self, id: str, change: Change, base_hash: str | None = None) -> WriteResult:
        """Change one card; see ``Vault.update``.

        Raises:
            PathError: no card has this id.
            ConflictError: the card is not the one that ``base_hash`` names.
            CardError: the change cannot be made without changing more, or is none.
            VaultError: another writer did not end in time.
        """
        change = _checked(change)
        with self._workspace.writing():
            card = find(self._workspace, id, self._known().cards)
            for attempt in range(1, _ATTEMPTS + 1):
                old = read_bytes(card)
                if base_hash is not None and hash_of(old) != base_hash:
                    hint = "read it again and repeat the change"
                    raise ConflictError("the card changed since it was read", path=card.path, hint=hint)
                try:
                    new = changed(old, change, self._workspace.parser)
                    if new == old:
                        return self._result(card, Action.UNCHANGED, old, ())
                    check_size(new, self._workspace.config)
                    write_atomic(card.file, new, expected_hash=hash_of(old))
                except ConflictError:  # an editor, which knows no lock, wrote just now
                    if base_hash is not None or attempt == _ATTEMPTS:
                        raise
                except CardError as error:
                    error.path = card.path
                    raise
                else:
                    break
        self._workspace.wrote([card.path])
        result = self._result(card, Action.UPDATED, new, _new_secrets(old, new))
        return replace(result, problems=unread_keys(card.path, change.set))

    def _result(self, card: Located, action: Action, data: bytes, secrets: tuple[SecretFound, ...]) -> WriteResult:
        return WriteResult(card.id, action, uri_of(self._workspace, card.id), hash_of(data), secrets=secrets)


def changed(old: bytes, change: Change, parser: CardParser) -> bytes:
    """The card's bytes after a change. A title and a description that were taken from the text are taken anew. Pure.

    Raises:
        CardError: the change cannot be made without changing more.
    """
    new = old
    if change.section is not None:
        if change.body is not None:
            new = replace_section(new, change.section, change.body)
        if change.append is not None:
            new = append_section(new, change.section, change.append)
    else:
        if change.body is not None:
            new = replace_body(new, change.body)
        if change.append is not None:
            new = append_body(new, change.append)
    named = {key: checked_value(value, key) for key, value in change.set.items()}
    if change.redact:
        named = {key: masked(value, key) for key, value in named.items()}
    if new != old:
        named = {**_taken_anew(old, new, parser, {*named, *change.unset}), **named}
    new = set_keys(new, named, change.unset)
    if any(key in named for key in SPAN_KEYS):
        card = parser.parse(new, id="", path="")
        check_span({key: None if (at := getattr(card, key)) is None else at.isoformat() for key in SPAN_KEYS})
    return new


def _taken_anew(old: bytes, new: bytes, parser: CardParser, named: set[str]) -> dict[str, JsonValue]:
    """Title and description that ``record`` took from the old text: left as they are, recall would go on telling it.

    A description that somebody wrote is never the same as the one that would be taken.
    """
    before, after = (parser.parse(data, id="", path="") for data in (old, new))
    title = before.title
    if not (before.writable and before.name and before.description == _described(before, title)):
        return {}
    taken: dict[str, JsonValue] = {}
    if "title" not in named and title == derived_title(before.body) != derived_title(after.body):
        title = derived_title(after.body) or title
        taken["title"] = title
    if "description" not in named:
        taken["description"] = _described(after, title)
    return taken


def _described(card: Card, title: str) -> str:
    return derived_description(replace(card, title=title, description="", meta=EMPTY_META))


def _checked(change: Change) -> Change:
    """A change that says something, and whose texts hold no secret when they are to be masked.

    Raises:
        CardError: it says nothing, contradicts itself, or is too large.
    """
    texts = [text for text in (change.body, change.append) if text is not None]
    if not texts and not change.set and not change.unset:
        raise CardError("there is nothing to change", hint="pass body, append, set or unset")
    if change.section is not None and not texts:
        raise CardError("the section has no new text", key="section", hint="pass body or append with it")
    if both := set(change.set) & set(change.unset):
        raise CardError("a key cannot be set and unset at once", key=min(both))
    if (size := sum(len(text.encode("utf-8", "replace")) for text in texts)) > MAX_WRITE_BYTES:
        raise CardError(f"the text has {size} bytes, and one write at most {MAX_WRITE_BYTES}", hint="split it")
    change = replace(change, set={key: checked_value(value, key) for key, value in change.set.items()})
    if not change.redact:
        return change
    return replace(
        change,
        body=None if change.body is None else redact(change.body),
        append=None if change.append is None else redact(change.append),
    )


def _new_secrets(old: bytes, new: bytes) -> tuple[SecretFound, ...]:
    """Secrets in lines that were not there before."""
    before = set(decode(old).text.split("\n"))
    text = decode(new).text
    lines = text.split("\n")
    return tuple(secret for secret in found_in(text) if lines[secret.line - 1] not in before)
