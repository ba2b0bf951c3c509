"""Pack ranked chunks into an answer of at most so many tokens. Pure.

The strongest chunks come in full (L2). When the next does not fit, its card is told shorter, by overview (L1) or
abstract (L0), unless the card already speaks; nothing else of it is told after that. A question of a dialogue brings
its answer along where both fit. No text comes twice; chunks of one card stand together in reading order, joined where
they are neighbors. Everything is counted, headers included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

AUTO = "auto"
LAYERS = ("L2", "L1", "L0")
# After this many chunks in a row that say something new and fit in no form, the answer is full.
PATIENCE = 8
GAP = "…"


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate for the answer.

    Attributes:
        place: the caller's number for it.
        card: the card's id.
        file: path shown in the citation.
        note: shown after the first citation of a card: date, and a label when it is outdated.
        position: order in the card.
        lines: first and last line in the file.
        text: the chunk in full.
    """

    place: int
    card: str
    file: str
    note: str
    position: int
    lines: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """What an answer tells of one card.

    Attributes:
        card: the card's id.
        source: citation of its beginning; of an overview or abstract the file.
        note: date, and a label when the card is outdated.
        text: the words; a gap between runs of chunks names the lines that follow.
    """

    card: str
    source: str
    note: str
    text: str


@dataclass(frozen=True, slots=True)
class Packed:
    """An answer.

    Attributes:
        passages: what it tells, card by card.
        text: what to show: the same, each passage under its source.
        tokens: its size by the given count, never above the budget.
        chosen: (place, layer) of every piece that is in it, best first.
    """

    passages: tuple[Passage, ...]
    text: str
    tokens: int
    chosen: tuple[tuple[int, str], ...]


NOTHING_PACKED = Packed((), "", 0, ())


@dataclass(frozen=True, slots=True)
class _Taken:
    piece: Piece
    layer: str
    text: str


def pack(
    pieces: Sequence[Piece],
    shorter: Callable[[str], tuple[str, str]],
    budget: int,
    count: Callable[[str], int],
    layer: str = AUTO,
    reply: Callable[[Piece], Piece | None] = lambda piece: None,
) -> Packed:
    """Pack the best pieces.

    Args:
        pieces: best first.
        shorter: overview and abstract of a card.
        budget: tokens.
        count: tokens of a text.
        layer: ``auto``, or the one layer in which everything is told.
        reply: what answers a piece that is a question, and stands right behind it; None = nothing does. It has a place
            of its own only if it is among the pieces.
    """
    groups: dict[str, list[_Taken]] = {}
    order: list[_Taken] = []
    seen: set[str] = set()
    misses = 0
    for piece in pieces:
        if misses >= PATIENCE:
            break
        if piece.text.strip() in seen:  # another card said the same
            continue
        told = groups.get(piece.card, [])
        forms = [[_Taken(piece, form, text.strip())] for form, text in _forms(piece, shorter, layer, told)]
        if forms and forms[0][0].layer == "L2" and (answer := reply(piece)) is not None:
            forms.insert(0, [*forms[0], _Taken(answer, "L2", answer.text.strip())])
        news = [form for form in forms if all(taken.text and taken.text not in seen for taken in form)]
        for form in news:
            trial = {**groups, piece.card: sorted([*told, *form], key=_reading_order)}
            if count(_render(_passages(trial))) <= budget:
                groups = trial
                order.extend(taken for taken in form if taken is form[0] or taken.piece.place != piece.place)
                seen.update(taken.text for taken in form)
                misses = 0
                break
        else:
            misses += bool(news)
    passages = _passages(groups)
    text = _render(passages)
    chosen = tuple((taken.piece.place, taken.layer) for taken in order)
    return Packed(passages, text, count(text) if text else 0, chosen)


def _forms(
    piece: Piece, shorter: Callable[[str], tuple[str, str]], layer: str, told: Sequence[_Taken]
) -> list[tuple[str, str]]:
    """Forms in which a piece may be told, longest first, after what its card has told already."""
    if told and told[0].layer != "L2":  # its overview or abstract speaks for all of it
        return []
    if layer == "L2" or told:
        return [("L2", piece.text)]
    overview, abstract = shorter(piece.card)
    forms = {"L2": piece.text, "L1": overview, "L0": abstract}
    return [(name, forms[name]) for name in (LAYERS if layer == AUTO else (layer,))]


def _reading_order(taken: _Taken) -> int:
    return taken.piece.position


def _render(passages: Sequence[Passage]) -> str:
    return "\n\n".join(
        f"{told.source} ({told.note})\n{told.text}" if told.note else f"{told.source}\n{told.text}" for told in passages
    )


def _passages(groups: dict[str, list[_Taken]]) -> tuple[Passage, ...]:
    return tuple(map(_passage, groups.values()))


def _passage(taken: Sequence[_Taken]) -> Passage:
    """One card: its runs; a gap between them names the lines that follow."""
    first = taken[0].piece
    if taken[0].layer != "L2":
        return Passage(first.card, first.file, first.note, taken[0].text)
    runs: list[list[_Taken]] = []
    for item in taken:
        if runs and item.piece.position == runs[-1][-1].piece.position + 1:
            runs[-1].append(item)
        else:
            runs.append([item])
    places = [_lines(run[0].piece.lines[0], run[-1].piece.lines[1]) for run in runs]
    texts = ["\n".join(item.text for item in run) for run in runs]
    later = (f"{GAP} {lines}\n{text}" for lines, text in zip(places[1:], texts[1:], strict=True))
    return Passage(first.card, first.file + places[0], first.note, "\n".join([texts[0], *later]))


def _lines(first: int, last: int) -> str:
    return f"#L{first}" if first == last else f"#L{first}-L{last}"
