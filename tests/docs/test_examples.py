"""The example programs do what they are examples of."""

from __future__ import annotations

import pytest

from examples import agent_loop, custom_embedder, fleet, quickstart, sessions


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


def test_agent_loop_corrects_itself_and_tells_when_it_was_never_told(capsys: pytest.CaptureFixture[str]) -> None:
    agent_loop.main()
    printed = capsys.readouterr().out
    replies = [line.strip() for line in printed.splitlines() if line.startswith("  ")]
    assert replies[1].startswith("Deploys go out on Tuesday at 10:00.")
    assert replies[2].endswith("instead of project_deploys-go-out-on-tuesday-at-10-00.md")
    assert replies[3].startswith("Deploys go out on Thursday at 10:00.")
    assert replies[5:] == [
        "known already: project_deploys-go-out-on-thursday-at-10-00.md",
        "I was never told.",
    ]
    assert printed.endswith(
        "\nDeploys go out on Tuesday at 10:00: superseded\nDeploys go out on Thursday at 10:00: current\n"
    )
    assert printed.count("hunter2wombat") == 1, "in the message, and nowhere in memory"


def test_each_of_a_fleet_finds_its_own_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    fleet.main()
    assert capsys.readouterr().out.splitlines() == [
        "ana told 2",
        "bo told 2",
        "cy told 1",
        "ana: Deploys go out on Tuesday at 10:00.",
        "bo: Deploys wait for the night shift.",
        "cy: I was never told.",
        "'dee': no tenant 'dee'",
        "ana: I was never told.",
        "ok ['ana/user_deploys-go-out-on-tuesday-at-10-00.md', 'bo/user_deploys-wait-for-the-night-shift.md']",
    ]


def test_sessions_are_remembered_and_what_nobody_needs_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    sessions.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 turns in session/standup"
    assert lines[1].startswith("Bob said it at 09:01: session/standup/timeline/2026-01-05_001.md#L")
    assert [line.split()[1] for line in lines[2:5]] == ["archived", "kept", "kept"]
    assert "used once" in lines[3]
    assert lines[5] == "brought back: strength 1.00"
