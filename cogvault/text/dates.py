"""Dates as cards and dialogue write them, read without a clock and without the machine's zone. Pure.

Two jobs: ``parse_date`` reads an absolute date, ``resolve_relative`` turns "last Friday" into the day it meant.
The words of each language are a table (``date_words``); nothing here knows a language.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone

import regex

from cogvault.text.date_words import ENGLISH, LANGUAGES, DateLanguage, Unit

# Years, months and days in ISO order with any of the usual separators, then an optional time and zone.
_ABSOLUTE = re.compile(
    r"([0-9]{4})(?:([-/.])([0-9]{1,2})(?:\2([0-9]{1,2})"
    r"(?:(?:[Tt]|[ ]+)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"[ ]*(Z|z|UTC|GMT|[+-][0-9]{1,2}(?::?[0-9]{2})?)?)?)?)?"
)
_MAX_FORMS = 12
_MAX_COUNT = 1000


def parse_date(text: str) -> datetime | None:
    """An ISO-like date or timestamp in UTC; None when it is none, or impossible. See ``parse_moment``.

    >>> parse_date("2026-05-26T10:00+02:00")
    datetime.datetime(2026, 5, 26, 8, 0, tzinfo=datetime.timezone.utc)
    """
    moment = parse_moment(text)
    try:
        return None if moment is None else moment.astimezone(UTC)
    except OverflowError:
        return None


def parse_moment(text: str) -> datetime | None:
    """An ISO-like date or timestamp in the zone it is written in; None when it is none, or impossible.

    A date without a time is its midnight, a month its first day, a year its first of January; a time without a zone
    is taken as UTC.
    """
    text = text.strip()
    match = _ABSOLUTE.fullmatch(text)
    try:
        if match is None:
            return _compact(text)
        year, _, month, day, hour, minute, second, fraction, zone = match.groups()
        return datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
            tzinfo=_zone(zone),
        )
    except (ValueError, OverflowError):
        return None


def _compact(text: str) -> datetime | None:
    """The other ISO 8601 forms: ``20260526T101500Z``, ``2026-W22-2``."""
    if len(text) > 40 or not text[:4].isdecimal() or not text.isascii():
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _zone(text: str | None) -> timezone:
    if text is None or text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes = (digits, "0") if len(digits) < 3 else (digits[:-2], digits[-2:])
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if text[0] == "-" else offset)


def day_form(day: date, language: DateLanguage = ENGLISH) -> str:
    """A day as it is searched for: ISO, then in words.

    >>> day_form(date(2023, 5, 8))
    '2023-05-08 8 May 2023'
    """
    words = language.day_form.format(day=day.day, month=language.months[day.month - 1], year=day.year)
    return f"{day.isoformat()} {words}"


def month_form(day: date, language: DateLanguage = ENGLISH) -> str:
    """The month of a day: ``2023-06 June 2023``."""
    words = language.month_form.format(month=language.month_names[day.month - 1], year=day.year)
    return f"{day.year:04}-{day.month:02} {words}"


def date_forms(day: date, text: str, languages: Sequence[DateLanguage] = LANGUAGES) -> tuple[str, ...]:
    """A day in words, in English and in each language whose own script the text is written in."""
    forms = [day_form(day)]
    forms += [day_form(day, one) for one in languages if one.script is not None and one.script.search(text)]
    return tuple(dict.fromkeys(forms))


def resolve_relative(text: str, at: datetime, languages: Sequence[DateLanguage] = LANGUAGES) -> tuple[str, ...]:
    """What relative dates in a text mean, seen from a moment: searchable forms, in reading order, each once.

    Days come as ``2023-05-07 7 May 2023``, weeks as their Monday and Sunday, weekends as Saturday and Sunday, months as
    ``2023-06 June 2023``, years as ``2022``. Weeks start on Monday. At most 12 forms.

    Args:
        text: what was said.
        at: when it was said; its own calendar day counts.
        languages: tables to look phrases up in.
    """
    found: list[tuple[int, str]] = []
    folded = text.casefold()
    for language in languages:
        if language.script is not None and not language.script.search(text):
            continue
        for match in language.pattern.finditer(folded):
            for form in _meaning(match, at.date(), language):
                found.append((match.start(), form))
    found.sort(key=lambda pair: pair[0])
    return tuple(dict.fromkeys(form for _, form in found))[:_MAX_FORMS]


def _meaning(match: regex.Match[str], today: date, language: DateLanguage) -> list[str]:
    """The forms of one matched phrase; none when it leaves the calendar."""
    groups = {name: value for name, value in match.groupdict().items() if value}
    try:
        if phrase := groups.get("fixed"):
            unit, shift = language.fixed[phrase]
            return _period(today, unit, shift, language)
        if weekday := groups.get("weekday"):
            return [day_form(_weekday(today, language.weekdays[weekday], language.shifts[groups["turn"]]), language)]
        if month := groups.get("month"):
            number = language.month_words[month]
            return [month_form(_named_month(today, number, language.shifts[groups["when"]]), language)]
        if unit_word := groups.get("unit"):
            return _period(today, language.units[unit_word], language.shifts[groups["shift"]], language)
        direction = -1 if "past" in groups else 1
        count = groups.get("past_count") or groups.get("future_count") or ""
        number = int(count) if count.isdecimal() else language.numbers[count]
        if number > _MAX_COUNT:
            return []
        unit = language.units[groups.get("past_unit") or groups.get("future_unit") or ""]
        return _distance(today, unit, direction * number, language)
    except (OverflowError, ValueError):
        return []


def _period(today: date, unit: Unit, shift: int, language: DateLanguage) -> list[str]:
    """The calendar period ``shift`` units away: "last week" is the whole week before this one."""
    match unit:
        case Unit.DAY:
            return [day_form(today + timedelta(days=shift), language)]
        case Unit.WEEK:
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
            return [day_form(monday, language), day_form(monday + timedelta(days=6), language)]
        case Unit.WEEKEND:
            # Said on a Sunday, "last weekend" is the one before; "this weekend" the one at hand.
            saturday = today - timedelta(days=today.weekday()) + timedelta(days=5, weeks=shift)
            return [day_form(saturday, language), day_form(saturday + timedelta(days=1), language)]
        case Unit.MONTH:
            return [month_form(_add_months(today, shift), language)]
        case Unit.YEAR:
            return [f"{_add_months(today, 12 * shift).year:04}"]


def _distance(today: date, unit: Unit, count: int, language: DateLanguage) -> list[str]:
    """A point ``count`` units away: "two weeks ago" is a day, "three months ago" a month."""
    if unit is Unit.WEEK:
        return [day_form(today + timedelta(weeks=count), language)]
    return _period(today, unit, count, language)


def _weekday(today: date, weekday: int, shift: int) -> date:
    """Last Friday is the newest one before today, next Friday the first after it, this Friday the one of this week."""
    if shift < 0:
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    if shift > 0:
        return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    return today + timedelta(days=weekday - today.weekday())


def _named_month(today: date, month: int, shift: int) -> date:
    """Last August is the newest one that began before this month, next August the first after it."""
    year = today.year
    if shift < 0 and month >= today.month:
        year -= 1
    elif shift > 0 and month <= today.month:
        year += 1
    return date(year, month, 1)


def _add_months(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
