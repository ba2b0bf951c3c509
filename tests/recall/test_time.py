"""Questions about time, from files to hits: validity, dates of cards, and days that turns of a dialogue speak of."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault import Hits
from tests.recall.conftest import Open, write


def ids(hits: Hits) -> list[str]:
    return [hit.id for hit in hits]


def labels(hits: Hits) -> dict[str, str]:
    return {hit.id: hit.valid for hit in hits}


@pytest.fixture
def ports(folder: Path) -> Path:
    """One question that had several answers, one after the other; the texts are equally good."""
    text = "# Port\n\nThe port of the gateway is {}."
    write(folder, "zeroth.md", text.format(8000), created="2019-01-01", valid_until="2019-06-01")
    write(folder, "first.md", text.format(8001), created="2024-01-01", valid_until="2025-01-01", superseded_by="second")
    write(
        folder, "second.md", text.format(8002), created="2025-01-01", valid_from="2025-01-01", valid_until="2026-01-01"
    )
    write(folder, "third.md", text.format(8003), created="2026-01-01", valid_from="2026-01-01", supersedes="second")
    write(folder, "fourth.md", text.format(8004), created="2026-05-01", valid_from="2027-01-01")
    return folder


def test_current_cards_come_first_and_others_are_labelled(ports: Path, open_vault: Open) -> None:
    hits = open_vault().search("port of the gateway", min_score=0.0)
    assert hits[0].id == "third.md"
    assert labels(hits) == {
        "third.md": "current",
        "first.md": "superseded",
        "second.md": "superseded",
        "fourth.md": "future",
        "zeroth.md": "expired",
    }
    assert all(hit.score < hits[0].score for hit in hits[1:])


@pytest.mark.parametrize(
    ("day", "answer"), [("2024-06-01", "first.md"), ("2025-06-01", "second.md"), ("2026-02-01", "third.md")]
)
def test_as_of_gives_what_was_valid_then(day: str, answer: str, ports: Path, open_vault: Open) -> None:
    hits = open_vault().search("port of the gateway", as_of=day, min_score=0.0)
    assert labels(hits) == {answer: "current"}


def test_a_window_begins_with_its_first_day_and_ends_before_its_last(ports: Path, open_vault: Open) -> None:
    vault = open_vault()
    assert ids(vault.search("port", as_of="2024-12-31T23:59:59Z", min_score=0.0)) == ["first.md"]
    assert ids(vault.search("port", as_of="2025-01-01", min_score=0.0)) == ["second.md"]


def test_before_anything_was_known_nothing_is_found(ports: Path, open_vault: Open) -> None:
    hits = open_vault().search("port", as_of="2020-01-01")
    assert (ids(hits), hits.status) == ([], "empty")


def test_a_card_that_a_newer_one_supersedes_by_name_loses_its_place_at_the_next_search(
    folder: Path, open_vault: Open
) -> None:
    write(folder, "old.md", "# Port\n\nThe port of the gateway is 8001, port 8001.")
    vault = open_vault()
    assert labels(vault.search("port", min_score=0.0)) == {"old.md": "current"}
    write(folder, "old.md", "# Port\n\nThe port of the gateway is 8001, port 8001.", superseded_by="new")
    write(folder, "new.md", "# Port\n\nThe port of the gateway is 8002, port 8002.")
    hits = vault.search("port", min_score=0.0)
    assert ids(hits) == ["new.md", "old.md"]
    assert labels(hits) == {"new.md": "current", "old.md": "superseded"}


def test_the_packed_answer_tells_what_is_no_longer_so(ports: Path, open_vault: Open) -> None:
    text = open_vault().search("port of the gateway", min_score=0.0, budget_tokens=400).text
    assert "superseded" in text
    assert "expired" in text
    assert text.index("8003") < text.index("8001")


def test_after_and_before_are_a_half_open_range(folder: Path, open_vault: Open) -> None:
    for day in ("2026-01-01", "2026-02-01", "2026-03-01"):
        write(folder, f"{day}.md", "# Standup\n\nStandup notes.", date=day)
    vault = open_vault()

    def found(**range: str) -> list[str]:
        return sorted(id.removesuffix(".md") for id in ids(vault.search("standup notes", min_score=0.0, **range)))  # type: ignore[arg-type]

    assert found(after="2026-02-01") == ["2026-02-01", "2026-03-01"]
    assert found(before="2026-02-01") == ["2026-01-01"]
    assert found(after="2026-01-02", before="2026-03-01") == ["2026-02-01"]


def test_half_lives_count_from_the_given_clock(folder: Path, open_vault: Open) -> None:
    write(folder, "old.md", "# Standup\n\nStandup notes.", date="2025-06-01")
    write(folder, "new.md", "# Standup\n\nStandup notes.", date="2026-05-31")
    hits = open_vault(half_life_days=30).search("standup notes", min_score=0.0)
    assert ids(hits) == ["new.md", "old.md"]
    assert hits[1].score == pytest.approx(0.2 * hits[0].score, rel=0.05)


TALK = """# Talk

**Ana** (2023-05-08T09:30:00Z): I went to the support group yesterday.

**Ben** (2023-05-08T09:31:00Z): That is wonderful. I am painting the fence this week.

**Ana** (2023-05-20T18:00:00Z): Last Friday the cat came home.

**Ben** (2023-06-03T10:00:00Z): Two weeks ago we saw the concert.

**Ana** (2023-06-03T10:01:00Z): Tomorrow I fly to Lisbon.
"""


@pytest.fixture
def talk(folder: Path, open_vault: Open) -> Path:
    write(folder, "session/talk.md", TALK)
    # The same words at other times, so that only the day tells the turns apart.
    other = TALK.replace("2023-05", "2024-11").replace("2023-06", "2024-12").replace("# Talk", "# Another talk")
    write(folder, "session/other.md", other)
    return folder


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what happened on 7 May 2023", "support group"),
        ("what happened on May 7, 2023?", "support group"),
        ("2023-05-07", "support group"),
        ("who went somewhere on 7 May 2023", "support group"),
        ("what happened on 19 May 2023", "cat came home"),
        ("where does Ana fly on 4 June 2023", "Lisbon"),
    ],
)
def test_a_day_that_a_turn_speaks_of_is_found(question: str, said: str, talk: Path, open_vault: Open) -> None:
    best = open_vault().search(question, min_score=0.0)[0]
    assert said in best.text
    assert best.id == "session/talk.md"


def test_a_hit_of_a_dialogue_tells_speaker_and_time(talk: Path, open_vault: Open) -> None:
    best = open_vault().search("what happened on 7 May 2023", min_score=0.0)[0]
    assert best.speaker == "Ana"
    assert best.at is not None
    assert best.at.isoformat() == "2023-05-08T09:30:00+00:00"


def test_a_month_finds_what_was_said_in_it(talk: Path, open_vault: Open) -> None:
    hits = open_vault().search("who saw a concert in May 2023", min_score=0.0)
    assert hits[0].id == "session/talk.md"
    assert "concert" in hits[0].text


@pytest.mark.parametrize("name", ["old", "old.md", "'[[old]]'", "[old]", "Old port", "'[[old|the port]], none'", "OLD"])
def test_the_new_card_alone_may_say_that_it_takes_a_place(name: str, folder: Path, open_vault: Open) -> None:
    write(folder, "a.md", "# Port\n\nThe port of the gateway is 8002.", supersedes=name)
    write(folder, "old.md", "The port of the gateway is 8001.", title="Old port")
    vault = open_vault()
    hits = vault.search("port of the gateway", min_score=0.0)
    assert labels(hits) == {"a.md": "current", "old.md": "superseded"}
    assert hits[0].id == "a.md"
    assert hits[1].score < 0.6 * hits[0].score
    assert [(version.id, version.valid) for version in vault.history("a.md")] == [
        ("old.md", "superseded"),
        ("a.md", "current"),
    ]
    assert [(card.id, card.valid) for card in vault.list()] == [("a.md", "current"), ("old.md", "superseded")]


def test_a_place_is_taken_from_the_day_on_which_the_new_card_holds(folder: Path, open_vault: Open) -> None:
    write(folder, "new.md", "The port of the gateway is 8002.", supersedes="old", valid_from="2026-03-01")
    write(folder, "old.md", "The port of the gateway is 8001.", created="2026-01-01")
    vault = open_vault()
    assert labels(vault.search("port", as_of="2026-02-01", min_score=0.0)) == {"old.md": "current"}
    assert labels(vault.search("port", as_of="2026-04-01", min_score=0.0)) == {
        "new.md": "current",
        "old.md": "superseded",
    }


def test_a_place_is_given_back_when_the_new_card_goes_or_names_another(folder: Path, open_vault: Open) -> None:
    write(folder, "new.md", "The port of the gateway is 8002.", supersedes="old")
    write(folder, "old.md", "The port of the gateway is 8001.")
    vault = open_vault()
    assert labels(vault.search("port", min_score=0.0))["old.md"] == "superseded"
    write(folder, "new.md", "The port of the gateway is 8002.", supersedes="new")
    vault.sync()
    assert labels(vault.search("port", min_score=0.0)) == {"new.md": "current", "old.md": "current"}
    write(folder, "new.md", "The port of the gateway is 8002.", supersedes="[ghost, old]")
    vault.sync()
    assert labels(vault.search("port", min_score=0.0))["old.md"] == "superseded"
    (folder / "new.md").unlink()
    vault.sync()
    assert labels(vault.search("port", min_score=0.0)) == {"old.md": "current"}
