from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.layers.tokens import estimate_tokens
from cogvault.retrieval.packing import NOTHING_PACKED, Packed, Piece, pack

HUGE = 10**9
Shorter = Callable[[str], tuple[str, str]]


def piece(place: int, card: str = "a.md", position: int = 1, text: str | None = None, note: str = "") -> Piece:
    lines = (position * 10, position * 10 + 4)
    return Piece(place, card, card, note, position, lines, f"text {place} of {card}" if text is None else text)


def untold(card: str) -> tuple[str, str]:
    return "", ""


def layers(card: str) -> tuple[str, str]:
    return f"overview of {card}", f"abstract {card}"


def packed(
    *pieces: Piece,
    budget: int = HUGE,
    shorter: Shorter = untold,
    count: Callable[[str], int] = len,
    layer: str = "auto",
) -> Packed:
    return pack(pieces, shorter, budget, count, layer)


def test_a_chunk_is_told_under_its_citation() -> None:
    found = packed(piece(0, "notes/a.md", 2, "the text", note="2026-05-31"))
    assert found.text == "notes/a.md#L20-L24 (2026-05-31)\nthe text"
    assert found.chosen == ((0, "L2"),)


def test_a_chunk_of_one_line_is_cited_by_that_line() -> None:
    found = packed(Piece(0, "a.md", "a.md", "", 1, (7, 7), "short"))
    assert found.text == "a.md#L7\nshort"


def test_neighbors_are_joined_in_reading_order_under_one_citation() -> None:
    found = packed(piece(0, position=3, text="third"), piece(1, position=2, text="second"))
    assert found.text == "a.md#L20-L34\nsecond\nthird"
    assert [place for place, _ in found.chosen] == [0, 1]


def test_a_gap_between_chunks_of_a_card_names_the_lines_that_follow() -> None:
    found = packed(piece(0, position=5, text="fifth"), piece(1, position=2, text="second"))
    assert found.text == "a.md#L20-L24\nsecond\n… #L50-L54\nfifth"


def test_cards_stand_in_the_order_of_their_best_chunk() -> None:
    found = packed(piece(0, "b.md"), piece(1, "a.md"), piece(2, "b.md", 2))
    assert found.text.split("\n")[0] == "b.md#L10-L24"
    assert found.text.index("b.md#") < found.text.index("a.md#")


def test_the_note_of_a_card_is_told_once() -> None:
    found = packed(piece(0, note="2026-05-31, superseded"), piece(1, position=9, note="2026-05-31, superseded"))
    assert found.text.count("superseded") == 1


def test_the_same_text_in_two_cards_is_told_once() -> None:
    found = packed(piece(0, "a.md", text="same"), piece(1, "b.md", text="same"), piece(2, "c.md", text=" same\n"))
    assert found.text.count("same") == 1


def test_a_card_that_repeats_another_is_not_told_shorter_instead() -> None:
    found = packed(piece(0, "a.md", text="same"), piece(1, "b.md", text="same"), shorter=layers)
    assert found.chosen == ((0, "L2"),)


def test_what_does_not_fit_in_full_is_told_by_its_overview_then_by_its_abstract() -> None:
    long = "x" * 500
    assert packed(piece(0, text=long), budget=60, shorter=layers).chosen == ((0, "L1"),)
    found = packed(piece(0, text=long), budget=20, shorter=layers)
    assert found.chosen == ((0, "L0"),)
    assert found.text == "a.md\nabstract a.md"


def test_a_card_that_speaks_in_full_is_not_told_shorter_as_well() -> None:
    found = packed(piece(0, text="short"), piece(1, position=2, text="x" * 500), budget=100, shorter=layers)
    assert found.chosen == ((0, "L2"),)


def test_a_card_told_by_its_overview_says_all_that_is_counted_as_chosen() -> None:
    """A later chunk of the card that would fit must not be swallowed, nor torn into the overview's lines."""
    for position in (1, 9):
        found = packed(
            piece(0, position=5, text="x" * 500), piece(1, position=position, text="tiny"), budget=60, shorter=layers
        )
        assert found.text == "a.md\noverview of a.md"
        assert found.chosen == ((0, "L1"),)


@pytest.mark.parametrize("layer", ["L2", "L1", "L0"])
def test_a_forced_layer_tells_everything_in_it(layer: str) -> None:
    found = packed(piece(0, "a.md"), piece(1, "b.md"), piece(2, "a.md", 2), shorter=layers, layer=layer)
    assert {told for _, told in found.chosen} == {layer}
    assert len(found.chosen) == (3 if layer == "L2" else 2)


def test_many_chunks_of_one_card_do_not_hide_other_cards_told_by_abstract() -> None:
    many = [piece(place, "a.md", place + 1) for place in range(30)]
    found = packed(*many, piece(30, "b.md"), shorter=layers, layer="L0")
    assert [place for place, _ in found.chosen] == [0, 30]


def test_many_repetitions_do_not_end_an_answer_that_is_not_full() -> None:
    many = [piece(place, f"{place}.md", text="same") for place in range(30)]
    found = packed(*many, piece(30, "b.md", text="other"))
    assert "other" in found.text


def test_a_later_small_chunk_fills_what_a_large_one_left() -> None:
    found = packed(piece(0, "a.md", text="x" * 500), piece(1, "b.md", text="tiny"), budget=30)
    assert found.chosen == ((1, "L2"),)


def test_a_budget_that_nothing_fits_gives_no_text() -> None:
    found = packed(piece(0), piece(1, "b.md"), budget=3, shorter=layers)
    assert found == NOTHING_PACKED


def test_blank_chunks_are_not_told() -> None:
    assert packed(piece(0, text=" \n")).chosen == ()


any_pieces = st.lists(
    st.tuples(st.sampled_from(["a.md", "b/c.md", "設.md"]), st.integers(0, 9), st.text("ab設 \n", max_size=40)),
    unique_by=lambda row: (row[0], row[1]),
    max_size=20,
).map(lambda rows: [piece(place, card, position, text, "note") for place, (card, position, text) in enumerate(rows)])
counters = st.sampled_from([len, estimate_tokens, lambda text: len(text.split()), lambda text: len(text.encode())])


@given(any_pieces, st.integers(0, 300), counters, st.sampled_from(["auto", "L2", "L1", "L0"]))
def test_an_answer_never_exceeds_its_budget_and_is_counted_truly(
    pieces: list[Piece], budget: int, count: Callable[[str], int], layer: str
) -> None:
    found = pack(pieces, layers, budget, count, layer)
    assert found.tokens == (count(found.text) if found.text else 0)
    assert found.tokens <= budget
    assert found == pack(pieces, layers, budget, count, layer)
    assert bool(found.text) == bool(found.chosen)


@given(any_pieces, st.integers(0, 300), st.sampled_from(["auto", "L2", "L1", "L0"]))
def test_every_chosen_piece_is_told_and_cited(pieces: list[Piece], budget: int, layer: str) -> None:
    found = pack(pieces, layers, budget, len, layer)
    assert len({place for place, _ in found.chosen}) == len(found.chosen)
    told: list[str] = []
    for place, form in found.chosen:
        chosen = pieces[place]
        text = {"L2": chosen.text, "L1": layers(chosen.card)[0], "L0": layers(chosen.card)[1]}[form].strip()
        assert text in found.text
        assert chosen.file in found.text
        told.append(text)
    assert len(set(told)) == len(told)


def test_a_question_brings_its_answer_when_both_fit() -> None:
    question, other, answer = (
        piece(0, position=3, text="which port?"),
        piece(1, "b.md"),
        piece(0, position=4, text="80"),
    )

    def reply(asked: Piece) -> Piece | None:
        return answer if asked is question else None

    found = pack([question, other], untold, HUGE, len, reply=reply)
    assert found.text == "a.md#L30-L44\nwhich port?\n80\n\nb.md#L10-L14\ntext 1 of b.md"
    assert found.chosen == ((0, "L2"), (1, "L2"))
    tight = pack([question, other], untold, len("a.md#L30-L34\nwhich port?"), len, reply=reply)
    assert tight.text == "a.md#L30-L34\nwhich port?"


def test_an_answer_that_is_told_already_comes_once() -> None:
    question, answer = piece(0, position=3, text="which port?"), piece(1, position=4, text="80")
    for pieces in ([question, answer], [answer, question]):
        found = pack(pieces, untold, HUGE, len, reply=lambda asked: answer if asked is question else None)
        assert found.text == "a.md#L30-L44\nwhich port?\n80"
        assert [place for place, _ in found.chosen] == [piece.place for piece in pieces]
