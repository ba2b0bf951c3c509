"""Absolute dates inside running text, found by rule. Pure, without clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from cogvault.layers.words import MONTHS

_YEAR = re.compile(r"[0-9]{4}")
_MONTH = r"(?P<month>[^\W\d_]{3,12})\.?"
_OF = r"(?:of |de |d['’])?"
# 2023-05-08, 2023/5/8, 2023.05.08
_ISO = re.compile(r"(?<![\w.])(?P<year>[0-9]{4})([-/.])(?P<number>[0-9]{1,2})\2(?P<day>[0-9]{1,2})(?![0-9])")
# 2023年5月8日, 2023년 5월 8일
_CJK = re.compile(r"(?P<year>[0-9]{4}) ?[年년] ?(?P<number>[0-9]{1,2}) ?[月월] ?(?P<day>[0-9]{1,2}) ?[日일号號]")
# 8.05.2023: dots are read day first everywhere they are written; slashes are not, so they are left alone.
_DOTTED = re.compile(r"(?<![\w.])(?P<day>[0-9]{1,2})\.(?P<number>[0-9]{1,2})\.(?P<year>[0-9]{4})(?![\w])")
# 8 May 2023, 8th of May, 2023, 8. Mai 2023, 8 травня 2023, 8 de mayo de 2023
_DAY_FIRST = re.compile(
    rf"(?<![\w.])(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|er|\.|º)? {_OF}{_MONTH},? {_OF}(?P<year>[0-9]{{4}})(?![0-9])"
)
# May 8, 2023
_MONTH_FIRST = re.compile(rf"(?<!\w){_MONTH} (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})(?![0-9])")
_FORMS = (_ISO, _CJK, _DOTTED, _DAY_FIRST, _MONTH_FIRST)


def find_dates(sentences: Sequence[str]) -> list[tuple[date, ...]]:
    """Days that each sentence names with day, month and year, ascending, each once; impossible ones are none.

    >>> find_dates(["Moved from May 8, 2023 to 9. Mai 2023.", "Then nothing."])
    [(datetime.date(2023, 5, 8), datetime.date(2023, 5, 9)), ()]
    """
    if not _YEAR.search("\n".join(sentences)):
        return [()] * len(sentences)
    return [_dates(sentence) if _YEAR.search(sentence) else () for sentence in sentences]


def _dates(text: str) -> tuple[date, ...]:
    days: set[date] = set()
    for form in _FORMS:
        for match in form.finditer(text):
            groups = match.groupdict()
            number = groups.get("number")
            month = int(number) if number else MONTHS.get(groups["month"].casefold(), 0)
            try:
                days.add(date(int(groups["year"]), month, int(groups["day"])))
            except ValueError:
                continue
    return tuple(sorted(days))
