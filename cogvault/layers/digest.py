"""A card's body as scored sentences: what the abstract and the overview choose from. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from cogvault.layers.centrality import centrality, spread, terms, words
from cogvault.layers.moments import find_dates
from cogvault.layers.names import find_names, rank_names
from cogvault.layers.passages import Heading, Passage, read
from cogvault.layers.words import DECISION_WORDS, MONTHS
from cogvault.text.dates import parse_date
from cogvault.text.sentences import sentences as split_sentences

# More than this many are represented by an even spread of them: bounds the time that one card takes.
MAX_SENTENCES = 200
# What is added to a centrality of 0 to 1.
_FIRST = 0.5
_SECTION_FIRST = 0.15
_TITLE = 0.4
_DECISION = 0.3
_DATE = 0.15
_NAME = 0.1
# Factors for what rarely stands on its own.
_QUESTION = 0.5
_SHORT = 0.6
_ROW = 0.5
_SHORT_WORDS = 4
_QUESTION_MARKS = ("?", "？", "؟")
_FIRST_WORD = re.compile(r"[^\W\d_]*")


class Sentence(NamedTuple):
    """One sentence of a body.

    Attributes:
        text: as it stands in the body, on one line, without the markup of its lines.
        section: number of headings above it.
        speaker: who says it, or the bold label of its paragraph, or "".
        opening: True for the first sentence of a turn.
        day: the day of the turn it belongs to, if it says so.
        dates: days that it names.
        names: names in it.
        terms: its distinct stems.
        score: how much it says of the card; comparable inside one card only.
    """

    text: str
    section: int
    speaker: str
    opening: bool
    day: date | None
    dates: tuple[date, ...]
    names: tuple[str, ...]
    terms: frozenset[str]
    score: float


@dataclass(frozen=True, slots=True)
class Digest:
    """A body, read and weighed.

    Attributes:
        sentences: at most ``MAX_SENTENCES``, in reading order.
        order: their indices, best first.
        speakers: in order of appearance with the number of their turns; empty when the card is no dialogue.
        names: most frequent first.
        todos: open tasks.
    """

    sentences: tuple[Sentence, ...]
    order: tuple[int, ...]
    headings: tuple[Heading, ...]
    speakers: tuple[tuple[str, int], ...]
    names: tuple[str, ...]
    todos: tuple[str, ...]

    @property
    def days(self) -> tuple[date, ...]:
        """Days on which a dialogue's turns were said, ascending."""
        return tuple(sorted({one.day for one in self.sentences if one.day}))


def digest(title: str, body: str) -> Digest:
    """Read a body and score its sentences."""
    reading = read(body)
    passages = spread(reading.passages, MAX_SENTENCES)
    pieces = spread([piece for passage in passages for piece in _split(passage)], MAX_SENTENCES)
    texts = [text for _, _, text in pieces]
    spoken = [words(text) for text in texts]
    stems = [terms(one) for one in spoken]
    named = find_names(texts)
    dated = find_dates(texts)
    about = terms(words(title))
    found: list[Sentence] = []
    section = -1
    for number, central in enumerate(centrality(stems)):
        passage, opening, text = pieces[number]
        score = central + _FIRST / (1 + number)
        score += _SECTION_FIRST * (passage.section != section)
        score += _TITLE * len(about & stems[number]) / (1 + len(about))
        score += _DECISION * (not DECISION_WORDS.isdisjoint(spoken[number]))
        score += _DATE * bool(dated[number]) + _NAME * bool(named[number])
        score *= (_SHORT if len(spoken[number]) < _SHORT_WORDS else 1) * (_ROW if passage.row else 1)
        score *= _QUESTION if text.endswith(_QUESTION_MARKS) else 1
        section = passage.section
        found.append(
            Sentence(
                text,
                section,
                passage.speaker,
                opening,
                _day(passage.at),
                dated[number],
                named[number],
                stems[number],
                score,
            )
        )
    speakers = _speakers(reading.passages)
    return Digest(
        tuple(found),
        tuple(sorted(range(len(found)), key=lambda index: (-found[index].score, index))),
        reading.headings,
        speakers,
        rank_names(named, sum(map(len, spoken)), [name for name, _ in speakers]),
        reading.todos,
    )


def _split(passage: Passage) -> list[tuple[Passage, bool, str]]:
    """A passage's sentences, each with whether a turn begins with it; a table row is one."""
    texts: list[str] = []
    for text in [passage.text] if passage.row else split_sentences(passage.text):
        if texts and _ends_in_day(texts[-1]) and _FIRST_WORD.match(text, 0, 12)[0].casefold() in MONTHS:  # type: ignore[index]
            texts[-1] += f" {text}"
        else:
            texts.append(text)
    return [(passage, passage.opens and number == 0, text) for number, text in enumerate(texts)]


def _ends_in_day(text: str) -> bool:
    """True for the first half of ``Am 8. Mai 2023``, cut where a sentence could have ended."""
    return text[-1] == "." and text[-2:-1].isdecimal()


def _day(at: str) -> date | None:
    """The calendar day that a turn's time names, as it is written: no zone moves it."""
    if not at:
        return None
    if days := find_dates([at])[0]:
        return days[0]
    moment = parse_date(at)
    return moment.date() if moment else None


def _speakers(passages: Sequence[Passage]) -> tuple[tuple[str, int], ...]:
    """Who speaks and how often; nobody when the bold labels are only labels: no time, none twice."""
    turns = [passage for passage in passages if passage.opens]
    count = Counter(turn.speaker for turn in turns)
    if any(turn.at for turn in turns) or len(count) < len(turns):
        return tuple(count.items())
    return ()
