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
class Packed:
    """An answer.

    Attributes:
        text: what to show.
        tokens: its size by the given count, never above the budget.
        chosen: (place, layer) of every piece that is in it, best first.
    """

    text: str
    tokens: int
    chosen: tuple[tuple[int, str], ...]


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
            if count(_render(trial)) <= budget:
                groups = trial
                order.extend(taken for taken in form if taken is form[0] or taken.piece.place != piece.place)
                seen.update(taken.text for taken in form)
                misses = 0
                break
        else:
            misses += bool(news)
    text = _render(groups)
    return Packed(text, count(text) if text else 0, tuple((taken.piece.place, taken.layer) for taken in order))


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


def _render(groups: dict[str, list[_Taken]]) -> str:
    return "\n\n".join(_render_card(taken) for taken in groups.values())


def _render_card(taken: Sequence[_Taken]) -> str:
    """One card: a citation with a note, then its runs; a gap between runs names the lines that follow."""
    first = taken[0].piece
    if taken[0].layer != "L2":
        return f"{first.file}{_note(first)}\n{taken[0].text}"
    runs: list[list[_Taken]] = []
    for item in taken:
        if runs and item.piece.position == runs[-1][-1].piece.position + 1:
            runs[-1].append(item)
        else:
            runs.append([item])
    blocks = []
    for place, run in enumerate(runs):
        lines = _lines(run[0].piece.lines[0], run[-1].piece.lines[1])
        head = f"{first.file}{lines}{_note(first)}" if place == 0 else f"{GAP} {lines}"
        blocks.append(head + "\n" + "\n".join(item.text for item in run))
    return "\n".join(blocks)


def _lines(first: int, last: int) -> str:
    return f"#L{first}" if first == last else f"#L{first}-L{last}"


def _note(piece: Piece) -> str:
    return f" ({piece.note})" if piece.note else ""
