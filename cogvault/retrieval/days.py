"""Days that a question names, "7 May 2023" or "2023-05-07". Pure.

A dialogue turn holds the ISO form of the day on which it was said, and of the days it meant by "yesterday" or "last
Friday". So a day in a question is looked for in that one form, however it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cogvault.layers.moments import find_dates
from cogvault.types import FloatArray, Term, TermKind

_ISO_LENGTH = 10
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def day_terms(text: str, terms: Sequence[Term]) -> tuple[Term, ...]:
    """A query's terms, with the ISO form of each day that it names.

    A form that is new has weight 0: it finds candidates for nobody, and scoring looks at it on its own.
    """
    known = {term.text for term in terms if term.kind is TermKind.EXACT}
    forms = [day.isoformat() for day in find_dates([text])[0]]
    return (*terms, *(Term(TermKind.EXACT, form, 0.0) for form in forms if form not in known))


def day_columns(terms: Sequence[Term]) -> list[int]:
    """Which terms are days."""
    return [
        i
        for i, term in enumerate(terms)
        if len(term.text) == _ISO_LENGTH and term.kind is TermKind.EXACT and _ISO_DAY.fullmatch(term.text)
    ]


def lacks_day(terms: Sequence[Term], counts: FloatArray) -> bool:
    """True when a query names a day, and no candidate holds that day: its year and month are in many a card.

    Args:
        terms: of the query.
        counts: (candidates, terms) how often each term stands in the candidate's card.
    """
    columns = day_columns(terms)
    return bool(columns) and not counts[:, columns].any()
