from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from cogvault.errors import PathError, QueryError
from cogvault.indexes.filters import matches
from cogvault.retrieval.request import build_filter, checked_budget, checked_count, checked_share, instant
from tests.retrieval.values import card

DAY = datetime(2026, 5, 31, tzinfo=UTC)


def test_nothing_asked_is_the_empty_filter() -> None:
    assert build_filter().is_empty
    assert build_filter(type=None, tags=(), path="", where={}, without=()).is_empty


@pytest.mark.parametrize("path", ["", ".", "./"])
def test_the_vault_itself_is_no_path_filter(path: str) -> None:
    assert build_filter(path=path).is_empty


@pytest.mark.parametrize("path", ["notes", "notes/", "./notes", "NOTES"])
def test_a_folder_is_found_however_it_is_written(path: str) -> None:
    asked = build_filter(path=path)
    assert matches(card("notes/a.md"), asked)
    assert not matches(card("notes2/a.md"), asked)
    assert not matches(card("notes.md"), asked)


@pytest.mark.parametrize("path", ["/", "/notes", "notes\\", "work\\notes", "C:/notes", "../notes"])
def test_a_path_that_no_card_could_have_is_refused_as_by_every_other_call(path: str) -> None:
    with pytest.raises(PathError, match="this path names no card of the vault"):
        build_filter(path=path)


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


@pytest.mark.parametrize(
    "value",
    [
        5,
        2026.5,
        ["2026-05-31"],
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=12))),
    ],
)
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
        ("1.50", 1.5),
        (1.5, 1.50),
        (3, 3.0),
        (3.0, 3),
        ("007", 7),
        (-2, -2.0),
        (["1.50", "x"], 1.5),
        (["p", "q"], ["p", "q"]),
        (["p", "q"], ("Q", "p")),
        (["p", "q", "r"], {"r", "p"}),
        ("p", ["p"]),
    ],
)
def test_a_frontmatter_value_equals_what_is_asked(held: Any, asked: Any) -> None:
    assert matches(card(meta={"Key": held}), build_filter(where={"key": asked}))


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ("1.10", "1.1"),
        (True, 1),
        ("1.5.0", 1.5),
        ("1e1", 10),
        (["p"], ["p", "q"]),
        ({"open": 1}, "{'open': 1}"),
        (None, 0),
    ],
)
def test_a_frontmatter_value_of_another_value_does_not_pass(held: Any, asked: Any) -> None:
    assert not matches(card(meta={"key": held}), build_filter(where={"key": asked}))


@pytest.mark.parametrize("key", ["nested.k", "Nested.K", "metadata.nested.k"])
def test_a_dotted_key_is_a_key_below_another(key: str) -> None:
    nested = {"Nested": {"k": "v"}}
    meta: dict[str, Any] = {"metadata": nested} if key.startswith("metadata") else nested
    assert matches(card(meta=meta), build_filter(where={key: "v"}))
    assert not matches(card(meta=meta), build_filter(where={key: "w"}))
    assert not matches(card(meta=meta), build_filter(where={f"{key}.more": "v"}))


def test_a_key_with_a_dot_in_it_is_that_key() -> None:
    assert matches(card(meta={"a.b": "v"}), build_filter(where={"a.b": "v"}))


@pytest.mark.parametrize("held", ["opened", ["open", "x"][1:], None, {}])
def test_a_frontmatter_value_that_only_resembles_does_not_pass(held: Any) -> None:
    assert not matches(card(meta={"key": held}), build_filter(where={"key": "open"}))


def test_a_card_without_the_key_does_not_pass() -> None:
    assert not matches(card(), build_filter(where={"key": "open"}))


def test_cards_can_be_left_out() -> None:
    asked = build_filter(without=["a.md"])
    assert not matches(card("a.md"), asked)
    assert matches(card("b.md"), asked)


def test_text_is_one_id_and_not_its_letters() -> None:
    asked = build_filter(without="a.md")
    assert not matches(card("a.md"), asked)
    assert matches(card("m"), asked)


@pytest.mark.parametrize("tags", ["x,y", " x , y ", "#x #y", ["x,y"], ["y ", " #x"], "x,,y,"])
def test_text_with_commas_is_several_tags_as_in_a_card(tags: Any) -> None:
    asked = build_filter(tags=tags)
    assert matches(card(tags=("x", "y", "z")), asked)
    assert not matches(card(tags=("x",)), asked)


def test_blanks_around_a_type_do_not_count() -> None:
    assert matches(card(type="user"), build_filter(type=" user "))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("type", value) for value in ("", "  ", [""], 5, [5], b"user")),
        *(("tags", value) for value in ("", " , ", "#", ["ops", ""], 5, [None])),
        *(("where", value) for value in ("a=b", ["a"], {1: 2}, {"": 1}, {"a": object()}, {"a": b"x"}, {"a": {"b": 1}})),
        *(("where", {"a": value}) for value in ([], [[1]], float("nan"), float("inf"), 1j)),
        ("path", 5),
    ],
)
def test_what_can_never_pass_is_refused_by_its_key(key: str, value: Any) -> None:
    arguments: dict[str, Any] = {key: value}
    with pytest.raises(QueryError) as caught:
        build_filter(**arguments)
    assert caught.value.key == key
    assert caught.value.hint


@pytest.mark.parametrize("seen", [5, [5], {1: 2}])
def test_ids_that_are_no_text_are_refused(seen: Any) -> None:
    with pytest.raises(QueryError) as caught:
        build_filter(without=seen)
    assert caught.value.key == "session_seen"


@pytest.mark.parametrize("value", ["5", 1.5, True, [5], 0, -1, 1001])
def test_a_number_of_hits_is_a_whole_number_in_range(value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        checked_count(value, None)
    assert caught.value.key == "k"
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", ["0.5", [0.5], 1.1, -0.1, float("nan"), 1j])
def test_a_share_is_a_number_from_0_to_1(value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        checked_share("min_score", value)
    assert caught.value.key == "min_score"


@pytest.mark.parametrize("value", ["100", 1.5, True, 0])
def test_a_budget_is_a_whole_number_of_tokens(value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        checked_budget(value)
    assert caught.value.key == "budget_tokens"
