from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.layers.moments import find_dates
from cogvault.layers.names import find_names, rank_names
from tests.layers.support import hostile


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Then Mara Lind called.", ("Mara Lind",)),
        ("Mara called.", ()),
        ("“Mara called.", ()),
        ("Ask Wei about POL-358.", ("Wei", "POL-358")),
        ("It calls getUserName and svc_payments_v2 on MAX_SIZE.", ("getUserName", "svc_payments_v2", "MAX_SIZE")),
        ("Uses PostgreSQL now.", ("PostgreSQL",)),
        ("Ping @mara-lind, not bob@example.org.", ("@mara-lind",)),
        ("Set `ttl seconds` here.", ("ttl seconds",)),
        ("We met on Monday in May.", ()),
        ("I think I'm right.", ()),
        ("Працює з Києва разом із Вей.", ("Києва", "Вей")),
        ("Řekl, že Anna ví.", ("Anna",)),
        ("他看了《三体》和「等待支付」。", ("三体", "等待支付")),
        ("他说“设备清单”没有“list”。", ("设备清单",)),
    ],
)
def test_names_are_found_by_rule(sentence: str, names: tuple[str, ...]) -> None:
    assert sorted(find_names([sentence])[0]) == sorted(names)


def test_names_belong_to_their_sentence() -> None:
    assert find_names(["Ask Wei.", "", "Ask Mara."]) == [("Wei",), (), ("Mara",)]


def test_frequent_names_come_first_and_speakers_before_all() -> None:
    assert rank_names([("Wei",), ("Mara", "Wei")], 100, ["Ana"]) == ("Ana", "Wei", "Mara")


def test_nouns_of_a_language_that_capitalizes_them_are_no_names() -> None:
    (names,) = find_names(["Dann ist die Nummer der Rechnung in Mara Lind und svc_payments."])
    assert rank_names([names], 10) == ("Mara Lind", "svc_payments")


@pytest.mark.parametrize(
    "text",
    [
        "on 2023-05-08.", "2023/5/8", "at 2023-05-08T10:00:00Z", "8 May 2023", "8th of May, 2023", "May 8, 2023",
        "May 8th 2023", "8. Mai 2023", "8.5.2023", "2023年5月8日", "2023 年 5 月 8 日", "8 травня 2023 року",
        "8 мая 2023 года", "8 de mayo de 2023", "8 mai 2023",
    ],
)  # fmt: skip
def test_a_day_is_found_however_it_is_written(text: str) -> None:
    assert find_dates([text]) == [(date(2023, 5, 8),)]


@pytest.mark.parametrize(
    "text", ["2023-02-30", "5/8/2023", "v1.2023-05-08", "8 apples 2023", "year 2023", "99999-05-08"]
)
def test_what_is_no_certain_day_is_none(text: str) -> None:
    assert find_dates([text]) == [()]


def test_several_days_are_in_order() -> None:
    assert find_dates(["From 9 May 2023 back to 2023-05-08 and 8 May 2023."]) == [(date(2023, 5, 8), date(2023, 5, 9))]


@given(st.lists(hostile.map(lambda text: text.replace("\n", " ")), max_size=4))
def test_any_lines_have_names_and_dates(lines: list[str]) -> None:
    names, dates = find_names(lines), find_dates(lines)
    assert len(names) == len(dates) == len(lines)
    assert all(name in line for found, line in zip(names, lines, strict=True) for name in found if " " not in name)
