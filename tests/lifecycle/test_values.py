"""What callers say of a card is checked the same way wherever they say it, and masked whole."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from cogvault.errors import CardError
from cogvault.lifecycle.revise import Change, Reviser
from cogvault.lifecycle.values import checked_value, masked, moment_text
from cogvault.text.secrets import found_in
from cogvault.types import Draft, JsonValue
from tests.lifecycle.test_record import Shelf

TOKEN = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("valid_until", "junk"),
        ("valid_from", "tomorrow"),
        ("valid_until", ["2026-01-01"]),
        ("review_by", "soon"),
        ("importance", 9),
        ("importance", "high"),
        ("importance", True),
        ("importance", [0.5]),
        ("importance", float("nan")),
        ("type", {"x": 1}),
        ("title", ["a"]),
    ],
)
def test_a_value_that_means_nothing_is_refused_in_meta_and_in_set(shelf: Shelf, key: str, value: object) -> None:
    with pytest.raises(CardError) as refused:
        shelf.recorder.record(Draft("A wombat.", meta={key: value}))
    assert refused.value.key == key
    (shelf.root / "plan.md").write_text("A plan.\n")
    with pytest.raises(CardError) as refused:
        Reviser(shelf.workspace(), shelf.index.snapshot).update("plan.md", Change(set={key: value}))
    assert refused.value.key == key
    assert [path.name for path in shelf.root.iterdir()] == ["plan.md"]
    assert (shelf.root / "plan.md").read_text() == "A plan.\n"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("importance", "0.8", 0.8),
        ("importance", 1, 1),
        ("importance", None, None),
        ("valid_until", date(2026, 1, 2), "2026-01-02"),
        ("valid_until", 2026, "2026"),
        ("tags", "a, #b", ["a", "b"]),
        ("version", "1.10", "1.10"),
    ],
)
def test_values_as_they_are_written(key: str, value: object, expected: JsonValue) -> None:
    assert checked_value(value, key) == expected


def test_a_card_cannot_cease_to_hold_before_it_begins(shelf: Shelf) -> None:
    with pytest.raises(CardError, match="valid_until is before valid_from"):
        shelf.recorder.record(Draft("A wombat.", valid_from="2026-02-01", meta={"valid_until": "2026-01-01"}))
    shelf.recorder.record(Draft("A wombat.", valid_from="2026-02-01", valid_until="2026-02-01", to="a.md"))
    reviser = Reviser(shelf.workspace(), shelf.index.snapshot)
    with pytest.raises(CardError, match="valid_until is before valid_from"):
        reviser.update("a.md", Change(set={"valid_until": "2026-01-01"}))
    reviser.update("a.md", Change(set={"valid_until": "2026-03-01"}))


def test_instants_at_the_ends_of_the_calendar() -> None:
    west, east = timezone(-timedelta(hours=12)), timezone(timedelta(hours=14))
    for moment in (datetime.max.replace(tzinfo=west), datetime.min.replace(tzinfo=east)):
        with pytest.raises(CardError, match="years 1 to 9999"):
            moment_text(moment, "valid_until")
    assert moment_text(datetime(999, 1, 1, tzinfo=UTC), "valid_from") == "0999-01-01T00:00:00Z"
    assert moment_text(datetime(2026, 1, 1, 2, 3, 4, 5, east), "valid_from") == "2025-12-31T12:03:04Z"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("password", "hunter2wombat"),
        ("cfg", {"api_key": TOKEN, "more": [TOKEN, {"password": "hunter2wombat"}]}),
        ("cfg", {TOKEN: 1}),
        ("passwords", ["hunter2wombat"]),
        ("password", {"prod": "hunter2wombat", "dev": {"a": ["hunter2platypus"]}}),
        ("password", "of staging:\nhunter2wombat"),
        ("list", ["safe", TOKEN]),
        ("type", TOKEN),
        ("tags", ["ops", TOKEN]),
        ("source", f"told by {TOKEN}"),
        ("title", TOKEN),
        ("description", f"use {TOKEN}"),
    ],
)
def test_no_secret_is_written_where_they_are_to_be_masked(shelf: Shelf, key: str, value: JsonValue) -> None:
    done = shelf.recorder.record(Draft("A wombat.", meta={key: value}, redact=True))
    (shelf.root / "plan.md").write_text("A plan.\n")
    reviser = Reviser(shelf.workspace(), shelf.index.snapshot)
    changed = reviser.update("plan.md", Change(set={key: value}, redact=True))
    assert (done.secrets, changed.secrets) == ((), ())
    for path in shelf.root.iterdir():
        said = path.name + path.read_text()
        assert not any(secret in said for secret in (TOKEN, TOKEN.lower(), "hunter2"))
        assert "(redacted" in path.read_text()
        assert not found_in(path.read_text())
        assert shelf.card(path.name).writable


def test_a_place_that_looks_like_a_secret_is_refused_when_they_are_to_be_masked(shelf: Shelf) -> None:
    with pytest.raises(CardError, match="looks like a secret"):
        shelf.recorder.record(Draft("A wombat.", to=f"{TOKEN}.md", redact=True))
    assert not list(shelf.root.iterdir())


def test_what_is_no_secret_keeps_its_value_and_kind() -> None:
    value: JsonValue = {"port": 443, "on": True, "none": None, "names": ["a", 1.5]}
    assert masked(value, "cfg") == value
