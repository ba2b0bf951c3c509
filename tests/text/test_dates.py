from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.text.date_words import CHINESE, ENGLISH, GERMAN, LANGUAGES, UKRAINIAN, DateLanguage
from cogvault.text.dates import date_forms, day_form, month_form, parse_date, parse_moment, resolve_relative

# A Monday.
AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-26", datetime(2026, 5, 26, tzinfo=UTC)),
        ("2026-5-6", datetime(2026, 5, 6, tzinfo=UTC)),
        ("2026/05/26", datetime(2026, 5, 26, tzinfo=UTC)),
        ("2026.05.26", datetime(2026, 5, 26, tzinfo=UTC)),
        ("2026-05", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-05-26T10:30", datetime(2026, 5, 26, 10, 30, tzinfo=UTC)),
        ("2026-05-26 10:30:15", datetime(2026, 5, 26, 10, 30, 15, tzinfo=UTC)),
        ("2026-05-26T10:30:15Z", datetime(2026, 5, 26, 10, 30, 15, tzinfo=UTC)),
        ("2026-05-26t10:30:15.5z", datetime(2026, 5, 26, 10, 30, 15, 500000, tzinfo=UTC)),
        ("2026-05-26T10:30:15,123456789", datetime(2026, 5, 26, 10, 30, 15, 123456, tzinfo=UTC)),
        ("2026-05-26T10:30:15 UTC", datetime(2026, 5, 26, 10, 30, 15, tzinfo=UTC)),
        ("2026-05-26T01:00:00+05:30", datetime(2026, 5, 25, 19, 30, tzinfo=UTC)),
        ("2026-05-26T01:00-0800", datetime(2026, 5, 26, 9, tzinfo=UTC)),
        ("2001-12-14 21:59:43.10 -5", datetime(2001, 12, 15, 2, 59, 43, 100000, tzinfo=UTC)),
        ("20260526T101500Z", datetime(2026, 5, 26, 10, 15, tzinfo=UTC)),
        ("2026-W22-2", datetime(2026, 5, 26, tzinfo=UTC)),
        (" 2026-05-26 ", datetime(2026, 5, 26, tzinfo=UTC)),
    ],
)
def test_absolute_dates(text: str, expected: datetime) -> None:
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-02-30", "2026-13-01", "0000-01-01", "2026-05-26T25:00", "2026-05-26T10:00+99:00", "1716700000",
     "0001-01-01T00:00+14:00", "9999-12-31T23:59-10:00", "2026-05/26", "٢٠٢٦-٠٥-٢٦", "2026-05-26x"],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert parse_date(text) is None


def test_a_moment_keeps_the_zone_it_is_written_in() -> None:
    moment = parse_moment("2024-03-15T23:30:00-05:00")
    assert moment is not None
    assert (moment.date(), moment.utcoffset()) == (date(2024, 3, 15), timedelta(hours=-5))


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-1439, 1439))
def test_iso_timestamps_are_read_back(moment: datetime, offset_minutes: int) -> None:
    moment = moment.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))
    assert parse_date(moment.isoformat()) == moment


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_no_text_raises(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("I saw it yesterday", ["2023-05-07 7 May 2023"]),
        ("Last night was fun", ["2023-05-07 7 May 2023"]),
        ("the day before yesterday", ["2023-05-06 6 May 2023"]),
        ("see you tomorrow!", ["2023-05-09 9 May 2023"]),
        ("last Friday", ["2023-05-05 5 May 2023"]),
        ("last Fri", ["2023-05-05 5 May 2023"]),
        ("last Monday", ["2023-05-01 1 May 2023"]),
        ("next Monday", ["2023-05-15 15 May 2023"]),
        ("this Friday", ["2023-05-12 12 May 2023"]),
        ("next  sunday", ["2023-05-14 14 May 2023"]),
        ("three days ago", ["2023-05-05 5 May 2023"]),
        ("two weeks ago", ["2023-04-24 24 April 2023"]),
        ("a couple of weeks ago", ["2023-04-24 24 April 2023"]),
        ("10 days ago", ["2023-04-28 28 April 2023"]),
        ("in two days", ["2023-05-10 10 May 2023"]),
        ("last week", ["2023-05-01 1 May 2023", "2023-05-07 7 May 2023"]),
        ("this past weekend", ["2023-05-06 6 May 2023", "2023-05-07 7 May 2023"]),
        ("two weekends ago", ["2023-04-29 29 April 2023", "2023-04-30 30 April 2023"]),
        ("next month", ["2023-06 June 2023"]),
        ("six months ago", ["2022-11 November 2022"]),
        ("last year", ["2022"]),
        ("ten years ago", ["2013"]),
        ("last August", ["2022-08 August 2022"]),
        ("next March", ["2024-03 March 2024"]),
        ("yesterday and last year, not yesterday", ["2023-05-07 7 May 2023", "2022"]),
    ],
)
def test_relative_dates_in_english(text: str, forms: list[str]) -> None:
    assert list(resolve_relative(text, AT, [ENGLISH])) == forms


@pytest.mark.parametrize(
    ("text", "forms", "language"),
    [
        ("Gestern und letzten Freitag", ["2023-05-07 7. Mai 2023", "2023-05-05 5. Mai 2023"], GERMAN),
        ("vor zwei Wochen", ["2023-04-24 24. April 2023"], GERMAN),
        ("nächstes Jahr, nächsten Monat", ["2024", "2023-06 Juni 2023"], GERMAN),
        ("учора, минулої п'ятниці", ["2023-05-07 7 травня 2023", "2023-05-05 5 травня 2023"], UKRAINIAN),
        ("Два тижні тому", ["2023-04-24 24 квітня 2023"], UKRAINIAN),
        ("минулого місяця", ["2023-04 квітень 2023"], UKRAINIAN),
        ("昨天去了，上周五也去了", ["2023-05-07 2023年5月7日", "2023-05-05 2023年5月5日"], CHINESE),
        ("三天前，上个月，去年", ["2023-05-05 2023年5月5日", "2023-04 2023年4月", "2022"], CHINESE),
    ],
)
def test_relative_dates_in_other_languages(text: str, forms: list[str], language: DateLanguage) -> None:
    assert list(resolve_relative(text, AT, [language])) == forms
    assert set(forms) <= set(resolve_relative(text, AT))


@pytest.mark.parametrize(
    "text",
    ["", "we last talked", "the last book", "next time", "ago", "a while ago", "2000 years ago", "5000 days ago",
     "yesterdays", "broadcast week", "last", "in days"],
)  # fmt: skip
def test_what_is_no_relative_date(text: str) -> None:
    assert resolve_relative(text, AT) == ()


def test_dates_outside_of_the_calendar_are_left_out() -> None:
    assert resolve_relative("ten years ago", datetime(5, 1, 1, tzinfo=UTC)) == ()
    assert resolve_relative("last week, tomorrow", datetime(1, 1, 1, tzinfo=UTC)) == ("0001-01-02 2 January 1",)
    assert resolve_relative("next year", datetime(9999, 12, 31, tzinfo=UTC)) == ()


def test_the_end_of_a_month_stays_in_the_month_before() -> None:
    assert resolve_relative("last month", datetime(2024, 3, 31, tzinfo=UTC)) == ("2024-02 February 2024",)


@given(st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1)), st.integers(0, 6))
def test_last_and_next_weekday_are_within_a_week(at: datetime, weekday: int) -> None:
    name = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][weekday]
    (last,), (following,) = (resolve_relative(f"{word} {name}", at, [ENGLISH]) for word in ("last", "next"))
    before, after = (date.fromisoformat(form.split()[0]) for form in (last, following))
    assert timedelta(1) <= at.date() - before <= timedelta(7)
    assert timedelta(1) <= after - at.date() <= timedelta(7)
    assert before.weekday() == after.weekday() == weekday


@given(st.text(max_size=60), st.datetimes())
def test_relative_dates_never_raise(text: str, at: datetime) -> None:
    assert len(resolve_relative(text, at)) <= 12


def test_long_texts_give_few_forms() -> None:
    assert len(resolve_relative(" ".join(f"{n} days ago" for n in range(500)), AT)) == 12


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_table_is_understood(language: DateLanguage) -> None:
    gap = " " if language.words else ""
    shift = next(iter(language.shifts))
    phrases = list(language.fixed)
    phrases += [f"{one}{gap}{unit}" for one in language.shifts for unit in language.units]
    phrases += [f"{shift}{gap}{day}" for day in [*language.weekdays, *language.month_words]]
    phrases += [language.past.replace("(?:以|之)?", "").format(count=3, unit=unit) for unit in language.units]
    phrases += [language.future.replace("(?:以|之)?", "").format(count=word, unit=next(iter(language.units)))
                for word in language.numbers]  # fmt: skip
    assert [phrase for phrase in phrases if not resolve_relative(phrase, AT, [language])] == []


def test_a_day_and_a_month_in_words() -> None:
    assert day_form(date(2023, 5, 8)) == "2023-05-08 8 May 2023"
    assert month_form(date(2023, 5, 8), UKRAINIAN) == "2023-05 травень 2023"


def test_a_day_is_also_written_in_the_language_whose_script_the_text_has() -> None:
    assert date_forms(AT.date(), "hello") == ("2023-05-08 8 May 2023",)
    assert date_forms(AT.date(), "привіт") == ("2023-05-08 8 May 2023", "2023-05-08 8 травня 2023")
    assert date_forms(AT.date(), "你好") == ("2023-05-08 8 May 2023", "2023-05-08 2023年5月8日")
