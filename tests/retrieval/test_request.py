from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from cogvault.errors import QueryError
from cogvault.indexes.filters import matches
from cogvault.retrieval.request import build_filter, instant
from tests.retrieval.values import card

DAY = datetime(2026, 5, 31, tzinfo=UTC)


def test_nothing_asked_is_the_empty_filter() -> None:
    assert build_filter().is_empty
    assert build_filter(type=None, tags=(), path="", where={}, without=()).is_empty


@pytest.mark.parametrize("path", ["", ".", "./", "/"])
def test_the_vault_itself_is_no_path_filter(path: str) -> None:
    assert build_filter(path=path).is_empty


@pytest.mark.parametrize("path", ["notes", "notes/", "./notes", "notes\\", "NOTES", "/notes"])
def test_a_folder_is_found_however_it_is_written(path: str) -> None:
    asked = build_filter(path=path)
    assert matches(card("notes/a.md"), asked)
    assert not matches(card("notes2/a.md"), asked)
    assert not matches(card("notes.md"), asked)


def test_a_backslash_separates_folders() -> None:
    assert matches(card("work/notes/a.md"), build_filter(path="work\\notes"))


@pytest.mark.parametrize("tags", ["ops", "#ops", ["ops"], ("#Ops",), {"OPS"}])
def test_one_tag_may_be_text_or_a_list_with_or_without_its_sign(tags: Any) -> None:
    assert matches(card(tags=("Ops",)), build_filter(tags=tags))
    assert not matches(card(tags=("o", "p", "s")), build_filter(tags=tags))


def test_all_tags_are_needed_and_any_type_will_do() -> None:
    asked = build_filter(type=["project", "User"], tags=["a", "b"])
    assert matches(card(type="user", tags=("a", "b", "c")), asked)
    assert not matches(card(type="user", tags=("a",)), asked)
    assert not matches(card(type="feedback", tags=("a", "b")), asked)
    assert not matches(card(tags=("a", "b")), asked)


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-31",
        "2026-05-31T00:00:00Z",
        "2026-05-31T00:00:00",
        "2026-05-31T02:00:00+02:00",
        date(2026, 5, 31),
        datetime(2026, 5, 31),
        DAY,
        datetime(2026, 5, 31, 14, tzinfo=timezone(timedelta(hours=14))),
    ],
)
@pytest.mark.parametrize("key", ["after", "before", "as_of"])
def test_a_date_is_an_instant_in_utc(key: str, value: Any) -> None:
    found = getattr(build_filter(**{key: value}), key)
    assert found == DAY
    assert found.utcoffset() == timedelta(0)


@pytest.mark.parametrize("key", ["after", "before", "as_of"])
@pytest.mark.parametrize("value", ["soon", "2026-13-01", "2026-02-30", "", "31.05.2026 at noon"])
def test_what_is_no_date_is_refused_by_its_key(key: str, value: str) -> None:
    arguments: dict[str, Any] = {key: value}
    with pytest.raises(QueryError) as caught:
        build_filter(**arguments)
    assert caught.value.key == key
    assert repr(value) in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("value", [5, 2026.5, ["2026-05-31"]])
def test_a_date_of_another_kind_is_refused_by_its_key(value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        instant("after", value)
    assert caught.value.key == "after"


@pytest.mark.parametrize("before", ["2026-05-31", "2026-05-30"])
def test_an_empty_range_is_refused(before: str) -> None:
    with pytest.raises(QueryError) as caught:
        build_filter(after="2026-05-31", before=before)
    assert caught.value.key == "after"


def test_a_range_holds_its_beginning_and_not_its_end() -> None:
    asked = build_filter(after=DAY, before=DAY + timedelta(days=1))
    assert matches(card(dated=DAY), asked)
    assert not matches(card(dated=DAY + timedelta(days=1)), asked)
    assert not matches(card(dated=DAY - timedelta(seconds=1)), asked)


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ("open", "OPEN"),
        (True, True),
        (False, "false"),
        (3, 3),
        (3, "3"),
        (["ana", "ben"], "ben"),
        (None, None),
        ("2026-05-31", date(2026, 5, 31)),
    ],
)
def test_a_frontmatter_value_equals_what_is_asked(held: Any, asked: Any) -> None:
    assert matches(card(meta={"Key": held}), build_filter(where={"key": asked}))


@pytest.mark.parametrize("held", ["opened", ["open", "x"][1:], None, {}])
def test_a_frontmatter_value_that_only_resembles_does_not_pass(held: Any) -> None:
    assert not matches(card(meta={"key": held}), build_filter(where={"key": "open"}))


def test_a_card_without_the_key_does_not_pass() -> None:
    assert not matches(card(), build_filter(where={"key": "open"}))


def test_cards_can_be_left_out() -> None:
    asked = build_filter(without=["a.md"])
    assert not matches(card("a.md"), asked)
    assert matches(card("b.md"), asked)
