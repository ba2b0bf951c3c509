"""The example programs do what they are examples of."""

from __future__ import annotations

import pytest

from examples import custom_embedder, quickstart


def test_quickstart_finds_the_right_card_first(capsys: pytest.CaptureFixture[str]) -> None:
    quickstart.main()
    blocks = capsys.readouterr().out.split("\n\n")
    assert blocks[0].startswith("32 cards, 32 of them new")
    titles = [block.splitlines()[1].split("  ")[2] for block in blocks[1:4]]
    assert titles == [
        "Fix: duplicate invoices (POL-358)",
        "Резервне копіювання бази даних",
        "Entscheidung: lückenlose Rechnungsnummern",
    ]
    assert "queue-on-redis" in blocks[4]


def test_custom_embedder_finds_a_card_that_shares_no_word(capsys: pytest.CaptureFixture[str]) -> None:
    custom_embedder.main()
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.split("  ")[1] == "Invoices"
