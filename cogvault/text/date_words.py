"""Words for dates, one table a language. Adding a language is adding a table.

Phrases are casefolded. A pattern of a table is written with ``{count}``, ``{unit}``, ``{shift}``, ``{weekday}`` and
``{month}``, which stand for the words of the table's own columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import regex


class Unit(StrEnum):
    """A length of calendar time."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True)
class DateLanguage:
    """How one language writes and says dates.

    Attributes:
        months: names of the twelve months as they stand beside a day.
        month_names: the same as they stand alone.
        day_form: format with ``{day}``, ``{month}``, ``{year}``.
        month_form: format with ``{month}``, ``{year}``.
        fixed: phrase to a calendar period away from today: ``yesterday`` is ``(DAY, -1)``.
        units: words for units.
        numbers: words for counts.
        shifts: words for last, this and next: -1, 0, 1.
        weekdays: words for days of the week, Monday = 0.
        month_words: words for months that follow a shift word, January = 1.
        past: patterns with ``{count}`` and ``{unit}`` that look back: ``{count} {unit} ago``.
        future: the same, forward.
        shifted: patterns with ``{shift}`` and ``{unit}``, or ``{weekday}``, or ``{month}``.
        words: True when words are set apart by spaces, so that phrases match on word boundaries.
        script: matches text that can hold this language; None = always try.
    """

    months: tuple[str, ...]
    month_names: tuple[str, ...]
    day_form: str
    month_form: str
    fixed: Mapping[str, tuple[Unit, int]]
    units: Mapping[str, Unit]
    numbers: Mapping[str, int]
    shifts: Mapping[str, int]
    weekdays: Mapping[str, int]
    month_words: Mapping[str, int]
    past: str
    future: str
    shifted: str
    words: bool = True
    script: regex.Pattern[str] | None = None

    @cached_property
    def pattern(self) -> regex.Pattern[str]:
        """All of it, compiled when first asked for: most processes index no dialogue."""
        return _compile(self)


def _compile(language: DateLanguage) -> regex.Pattern[str]:
    """One pattern with a named group for each kind of phrase; spaces in it match any run of blanks."""
    count = rf"[0-9]{{1,4}}|{_any(language.numbers)}"
    unit = _any(language.units)
    shift = _any(language.shifts)
    kinds = [
        f"(?P<fixed>{_any(language.fixed)})",
        language.shifted.format(shift=f"(?P<turn>{shift})", what=f"(?P<weekday>{_any(language.weekdays)})"),
        language.shifted.format(shift=f"(?P<shift>{shift})", what=f"(?P<unit>{unit})"),
        "(?P<past>" + language.past.format(count=f"(?P<past_count>{count})", unit=f"(?P<past_unit>{unit})") + ")",
        language.future.format(count=f"(?P<future_count>{count})", unit=f"(?P<future_unit>{unit})"),
    ]
    if language.month_words:
        kinds.append(
            language.shifted.format(shift=f"(?P<when>{shift})", what=f"(?P<month>{_any(language.month_words)})")
        )
    edge = r"\b" if language.words else ""
    return regex.compile(f"{edge}(?:{'|'.join(kinds)}){edge}".replace(" ", r"\s+"))


def _any(words: Mapping[str, object]) -> str:
    """Alternatives, longest first so that a phrase wins over its own beginning."""
    return "|".join(regex.escape(word, literal_spaces=True) for word in sorted(words, key=lambda w: (-len(w), w)))


def _spread(table: Mapping[str, int]) -> dict[str, int]:
    """A table whose keys hold several words, separated by ``|``."""
    return {word: value for words, value in table.items() for word in words.split("|")}


_EN_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
ENGLISH = DateLanguage(
    months=_EN_MONTHS,
    month_names=_EN_MONTHS,
    day_form="{day} {month} {year}",
    month_form="{month} {year}",
    fixed={
        "the day before yesterday": (Unit.DAY, -2),
        "yesterday": (Unit.DAY, -1),
        "last night": (Unit.DAY, -1),
        "today": (Unit.DAY, 0),
        "tonight": (Unit.DAY, 0),
        "this morning": (Unit.DAY, 0),
        "this afternoon": (Unit.DAY, 0),
        "this evening": (Unit.DAY, 0),
        "tomorrow": (Unit.DAY, 1),
        "the day after tomorrow": (Unit.DAY, 2),
    },
    units={
        "day": Unit.DAY, "days": Unit.DAY, "week": Unit.WEEK, "weeks": Unit.WEEK,
        "weekend": Unit.WEEKEND, "weekends": Unit.WEEKEND,
        "month": Unit.MONTH, "months": Unit.MONTH, "year": Unit.YEAR, "years": Unit.YEAR,
    },
    numbers=_spread({
        "a|an|one": 1, "two|a couple of|a couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
        "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    }),
    shifts=_spread({"last|past|previous|this past": -1, "this": 0, "next|coming|this coming": 1}),
    weekdays=_spread({
        "monday|mon": 0, "tuesday|tues|tue": 1, "wednesday|wed": 2, "thursday|thurs|thur|thu": 3,
        "friday|fri": 4, "saturday|sat": 5, "sunday|sun": 6,
    }),
    month_words={name.lower(): number for number, name in enumerate(_EN_MONTHS, 1)},
    past="{count} {unit} ago",
    future="in {count} {unit}",
    shifted="{shift} {what}",
)  # fmt: skip

GERMAN = DateLanguage(
    months=(
        "Januar", "Februar", "März", "April", "Mai", "Juni",
        "Juli", "August", "September", "Oktober", "November", "Dezember",
    ),
    month_names=(
        "Januar", "Februar", "März", "April", "Mai", "Juni",
        "Juli", "August", "September", "Oktober", "November", "Dezember",
    ),
    day_form="{day}. {month} {year}",
    month_form="{month} {year}",
    fixed={
        "vorgestern": (Unit.DAY, -2),
        "gestern": (Unit.DAY, -1),
        "heute": (Unit.DAY, 0),
        "übermorgen": (Unit.DAY, 2),
    },
    units={
        "tag": Unit.DAY, "tage": Unit.DAY, "tagen": Unit.DAY, "woche": Unit.WEEK, "wochen": Unit.WEEK,
        "wochenende": Unit.WEEKEND, "wochenenden": Unit.WEEKEND,
        "monat": Unit.MONTH, "monate": Unit.MONTH, "monaten": Unit.MONTH,
        "jahr": Unit.YEAR, "jahre": Unit.YEAR, "jahren": Unit.YEAR,
    },
    numbers=_spread({
        "einem|einer|ein": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8,
        "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12,
    }),
    shifts=_spread({
        "letzte|letzten|letzter|letztes|vergangene|vergangenen|vergangenes|vorige|vorigen|voriges": -1,
        "diese|diesen|dieser|dieses": 0,
        "nächste|nächsten|nächster|nächstes|kommende|kommenden|kommendes": 1,
    }),
    weekdays=_spread({
        "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag|sonnabend": 5, "sonntag": 6,
    }),
    month_words=_spread({
        "januar": 1, "februar": 2, "märz": 3, "april": 4, "mai": 5, "juni": 6, "juli": 7, "august": 8,
        "september": 9, "oktober": 10, "november": 11, "dezember": 12,
    }),
    past="vor {count} {unit}",
    future="in {count} {unit}",
    shifted="{shift} {what}",
)  # fmt: skip

UKRAINIAN = DateLanguage(
    months=(
        "січня", "лютого", "березня", "квітня", "травня", "червня",
        "липня", "серпня", "вересня", "жовтня", "листопада", "грудня",
    ),
    month_names=(
        "січень", "лютий", "березень", "квітень", "травень", "червень",
        "липень", "серпень", "вересень", "жовтень", "листопад", "грудень",
    ),
    day_form="{day} {month} {year}",
    month_form="{month} {year}",
    fixed={
        "позавчора": (Unit.DAY, -2),
        "вчора": (Unit.DAY, -1),
        "учора": (Unit.DAY, -1),
        "сьогодні": (Unit.DAY, 0),
        "завтра": (Unit.DAY, 1),
        "післязавтра": (Unit.DAY, 2),
        "торік": (Unit.YEAR, -1),
        "тиждень тому": (Unit.WEEK, -1),
        "місяць тому": (Unit.MONTH, -1),
        "рік тому": (Unit.YEAR, -1),
    },
    units={
        "день": Unit.DAY, "дні": Unit.DAY, "днів": Unit.DAY, "дня": Unit.DAY,
        "тиждень": Unit.WEEK, "тижні": Unit.WEEK, "тижнів": Unit.WEEK, "тижня": Unit.WEEK,
        "вихідні": Unit.WEEKEND, "вихідних": Unit.WEEKEND,
        "місяць": Unit.MONTH, "місяці": Unit.MONTH, "місяців": Unit.MONTH, "місяця": Unit.MONTH,
        "рік": Unit.YEAR, "роки": Unit.YEAR, "років": Unit.YEAR, "року": Unit.YEAR, "році": Unit.YEAR,
    },
    numbers=_spread({
        "один|одну": 1, "два|дві": 2, "три": 3, "чотири": 4, "п'ять|п’ять": 5, "шість": 6, "сім": 7, "вісім": 8,
        "дев'ять|дев’ять": 9, "десять": 10,
    }),
    shifts=_spread({
        "минулого|минулої|минулу|минулий|минулі|минулих|минулому": -1,
        "цього|цієї|цю|цей|ці|цих|цьому": 0,
        "наступного|наступної|наступну|наступний|наступні|наступних|наступному": 1,
    }),
    weekdays=_spread({
        "понеділка|понеділок": 0, "вівторка|вівторок": 1, "середи|середу": 2, "четверга|четвер": 3,
        "п'ятниці|п'ятницю|п’ятниці|п’ятницю": 4, "суботи|суботу": 5, "неділі|неділю": 6,
    }),
    month_words=_spread({
        "січня": 1, "лютого": 2, "березня": 3, "квітня": 4, "травня": 5, "червня": 6, "липня": 7, "серпня": 8,
        "вересня": 9, "жовтня": 10, "листопада": 11, "грудня": 12,
    }),
    past="{count} {unit} тому",
    future="через {count} {unit}",
    shifted="{shift} {what}",
    script=regex.compile(r"\p{Cyrillic}"),
)  # fmt: skip

CHINESE = DateLanguage(
    months=tuple(str(number) for number in range(1, 13)),
    month_names=tuple(str(number) for number in range(1, 13)),
    day_form="{year}年{month}月{day}日",
    month_form="{year}年{month}月",
    fixed={
        "前天": (Unit.DAY, -2),
        "昨天": (Unit.DAY, -1),
        "昨晚": (Unit.DAY, -1),
        "今天": (Unit.DAY, 0),
        "今晚": (Unit.DAY, 0),
        "明天": (Unit.DAY, 1),
        "后天": (Unit.DAY, 2),
        "前年": (Unit.YEAR, -2),
        "去年": (Unit.YEAR, -1),
        "今年": (Unit.YEAR, 0),
        "明年": (Unit.YEAR, 1),
        "后年": (Unit.YEAR, 2),
    },
    units={
        "天": Unit.DAY, "日": Unit.DAY, "周末": Unit.WEEKEND, "周": Unit.WEEK, "星期": Unit.WEEK, "个星期": Unit.WEEK,
        "月": Unit.MONTH, "个月": Unit.MONTH, "年": Unit.YEAR,
    },
    numbers=_spread({"一": 1, "二|两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}),
    shifts={"上": -1, "上个": -1, "这": 0, "这个": 0, "本": 0, "下": 1, "下个": 1},
    weekdays=_spread({
        "周一|星期一": 0, "周二|星期二": 1, "周三|星期三": 2, "周四|星期四": 3, "周五|星期五": 4, "周六|星期六": 5,
        "周日|周天|星期日|星期天": 6,
    }),
    month_words={},
    past="{count}{unit}(?:以|之)?前",
    future="{count}{unit}(?:以|之)?后",
    shifted="{shift}{what}",
    words=False,
    script=regex.compile(r"\p{Han}"),
)  # fmt: skip

LANGUAGES = (ENGLISH, GERMAN, UKRAINIAN, CHINESE)
