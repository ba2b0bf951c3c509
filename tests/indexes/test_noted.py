"""Cards with problems are found without a look at the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import codec
from cogvault.indexes.noted import with_problems
from cogvault.testing.records import record
from cogvault.types import CardRecord, ChangeSet, Problem

_PROBLEM = Problem("odd.md", "frontmatter", 'a "problems": mark', 3, "problems")


def _records() -> list[CardRecord]:
    plain, odd, sly, deep = (record(f"{name}.md", "some text") for name in ("plain", "odd", "sly", "deep"))
    return [
        plain,
        replace(odd, card=replace(odd.card, problems=(_PROBLEM,))),
        replace(sly, card=replace(sly.card, title='no "problems": here')),
        replace(deep, card=replace(deep.card, meta={"problems": ["none", {"problems": []}]})),
    ]


def test_the_cards_with_problems_are_those_of_the_whole_list(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path)
    index.apply(ChangeSet(put=tuple(_records())))
    for cards in (index.snapshot().cards, LocalIndex(tmp_path).snapshot().cards):
        for _ in range(2):  # before and after each was looked at
            found = with_problems(cards)
            assert [(card.id, card.problems) for card in found] == [("odd.md", (_PROBLEM,))]
            assert found == [card for card in cards if card.problems] == with_problems(list(cards))


def test_a_card_without_problems_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = LocalIndex(tmp_path)
    index.apply(ChangeSet(put=tuple(_records())))
    cards = index.snapshot().cards
    decoded: list[str] = []
    decode = codec.decode_card

    def counted(row: str, *, id: str, **rest: object) -> object:
        decoded.append(id)
        return decode(row, id=id, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(codec, "decode_card", counted)
    with_problems(cards)
    assert set(decoded) == {"odd.md", "deep.md"}  # of the last one the row leaves it open
