"""What was true when: validity of cards, ranges of dates, and days that people name by "yesterday"."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from cogvault import Hits, Vault
from cogvault.embedders import HashingEmbedder
from tests.vault.conftest import Shelf, ids

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)

# One fact through three versions, and one that is not true yet. Ids are such that no order by name gives the right one.
PORTS = {
    "c-first.md": "created: 2024-01-01\nvalid_until: 2025-01-01\nsuperseded_by: a-second.md",
    "a-second.md": "created: 2025-01-01\nvalid_until: 2026-01-01\nsuperseded_by: d-third.md",
    "d-third.md": "created: 2026-01-01\nsupersedes: a-second.md",
    "b-fourth.md": "created: 2026-06-01\nvalid_from: 2027-01-01",
}

# 8 May 2023 is a Monday, 2 June 2023 a Friday.
TALK = """# A talk

**Caroline** (2023-05-08T13:56): I went to a support group yesterday and it was powerful.

**Melanie** (2023-05-20T09:00): I painted a lake sunrise last year.

**Melanie** (2023-06-02T10:00): We climb the ridge next Friday.

**Caroline** (2023-08-14T10:00): Last month we camped by the river.

**Melanie** (2023-09-01T10:00): The garden grows, thank you.

**Ольга** (2023-10-05T10:00): Вчера мы купили велосипед.
"""


@pytest.fixture(params=[False, True], ids=["keyword", "model"])
def vault(request: pytest.FixtureRequest, shelf: Shelf) -> Vault:
    """A vault whose today is 1 July 2026, without a model and with one."""
    return shelf.open(embedder=HashingEmbedder() if request.param else None, clock=lambda: NOW)


@pytest.fixture
def ports(shelf: Shelf, vault: Vault) -> Vault:
    for name, keys in PORTS.items():
        shelf.write(name, f"---\n{keys}\n---\nThe gateway listens on a port, as {name[2:-3]} said.\n")
    vault.sync()
    return vault


@pytest.fixture
def talk(shelf: Shelf, vault: Vault) -> Vault:
    shelf.write("talk.md", TALK)
    shelf.write("garden.md", "# Garden\n\nTomatoes stand near the fence.\n")
    vault.sync()
    return vault


def labels(hits: Hits) -> dict[str, str]:
    return {hit.id: hit.valid for hit in hits}


@pytest.mark.parametrize(
    ("as_of", "id"),
    [
        ("2024-06-01", "c-first.md"),
        ("2024-12-31T23:59:59Z", "c-first.md"),
        ("2025-01-01", "a-second.md"),
        (date(2025, 6, 1), "a-second.md"),
        (datetime(2026, 1, 1, tzinfo=UTC), "d-third.md"),
        # The same instant as the last second of 2024, in a zone where the new year has begun.
        (datetime(2025, 1, 1, 13, 59, 59, tzinfo=timezone(timedelta(hours=14))), "c-first.md"),
    ],
)
def test_what_was_true_then_is_the_only_answer_and_is_current(
    ports: Vault, as_of: str | date | datetime, id: str
) -> None:
    assert labels(ports.search("gateway port", as_of=as_of, min_score=0.0)) == {id: "current"}


def test_what_will_be_true_is_recalled_as_of_then(ports: Vault) -> None:
    then = ports.search("gateway port", as_of="2027-06-01", min_score=0.0)
    assert labels(then) == {"d-third.md": "current", "b-fourth.md": "current"}


def test_an_outdated_card_that_says_more_still_ranks_below(shelf: Shelf, vault: Vault) -> None:
    shelf.write("old.md", "---\nvalid_until: 2026-06-30\n---\nThe gateway listens on port 8000.\n")
    shelf.write("new.md", "The gateway listens on some other port by now, as everybody in the office knows.\n")
    hits = vault.search("gateway listens on port", min_score=0.0)
    assert [(hit.id, hit.valid) for hit in hits] == [("new.md", "current"), ("old.md", "expired")]


def test_a_card_expires_when_the_clock_says_so(shelf: Shelf) -> None:
    now = [datetime(2026, 6, 30, 23, 59, 59, tzinfo=UTC)]
    shelf.write("offer.md", "---\nvalid_until: 2026-07-01\n---\nwombat\n")
    vault = shelf.open(clock=lambda: now[0])
    [before] = vault.search("wombat", min_score=0.0)
    now[0] += timedelta(seconds=1)
    [after] = vault.search("wombat", min_score=0.0)
    assert (before.valid, after.valid) == ("current", "expired")
    assert after.score < before.score


def test_a_range_compares_instants_and_not_their_spelling(shelf: Shelf, vault: Vault) -> None:
    shelf.write("still-april.md", "---\ndate: 2026-05-01T01:00+02:00\n---\nwombat\n")
    shelf.write("may-already.md", "---\ndate: 2026-04-30T23:00-02:00\n---\nwombat\n")
    assert ids(vault.search("wombat", after="2026-05-01", min_score=0.0)) == ["may-already.md"]


def test_a_range_is_counted_before_hits_are_cut(shelf: Shelf, vault: Vault) -> None:
    for number in range(150):
        shelf.write(f"new/{number:03}.md", "---\ndate: 2026-05-01\n---\nwombat wombat\n")
    shelf.write("old.md", "---\ndate: 2020-01-01\n---\nAmong many other animals there was a wombat, far away.\n")
    assert ids(vault.search("wombat", k=1, before="2021-01-01", min_score=0.0)) == ["old.md"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("what happened on 7 May 2023", "support group yesterday"),
        ("what happened on 2023-05-07", "support group yesterday"),
        ("May 7, 2023", "support group yesterday"),
        ("what did Caroline do on 7 May 2023", "support group yesterday"),
        ("what is planned for 9 June 2023", "ridge next Friday"),
        ("where were they in July 2023", "camped by the river"),
        ("paintings of 2022", "sunrise last year"),
        ("что купили 4 октября 2023", "велосипед"),
    ],
)
def test_a_day_finds_the_turn_that_meant_it(talk: Vault, query: str, said: str) -> None:
    top = talk.search(query, min_score=0.0)[0]
    assert said in top.text
    assert top.id == "talk.md"


def test_a_day_that_was_meant_passes_the_threshold(talk: Vault) -> None:
    hits = talk.search("what happened on 7 May 2023", explain=True)
    assert "yesterday" in hits[0].text
    assert "day" in {part.name for part in hits[0].parts}


def test_a_day_that_nobody_meant_is_no_answer(talk: Vault) -> None:
    assert ids(talk.search("what happened on 9 May 2023")) == []


def test_the_meant_day_is_searchable_and_never_shown(talk: Vault) -> None:
    hits = talk.search("7 May 2023", budget_tokens=200, min_score=0.0)
    assert "yesterday" in hits.text
    assert not any("2023-05-07" in text or "7 May" in text for text in (hits.text, *(hit.text for hit in hits)))


def test_yesterday_is_counted_in_the_zone_of_who_spoke(shelf: Shelf, vault: Vault) -> None:
    # In UTC this was said on 7 May, and yesterday would have been the 6th.
    shelf.write("talk.md", "**Ana** (2023-05-08T01:00+05:00): We met an owl yesterday.\n")
    shelf.write("other.md", "**Ana** (2023-05-06T20:00+05:00): We met a heron at home.\n")
    assert ids(vault.search("2023-05-07", min_score=0.0))[0] == "talk.md"
    assert ids(vault.search("2023-05-06", min_score=0.0))[0] == "other.md"


def test_a_turn_without_a_time_means_no_day(shelf: Shelf, vault: Vault) -> None:
    shelf.write("talk.md", "**Ana**: We met an owl yesterday.\n")
    assert ids(vault.search("7 May 2023")) == []
    assert ids(vault.search("owl yesterday")) == ["talk.md"]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Sets the zone of this process, and puts the one before back."""
    before = os.environ.get("TZ")
    yield monkeypatch
    monkeypatch.undo()
    assert os.environ.get("TZ") == before
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no zones to set on Windows")
def test_the_zone_of_the_machine_changes_no_answer(shelf: Shelf, zone: pytest.MonkeyPatch) -> None:
    shelf.write("talk.md", TALK)
    for name, keys in PORTS.items():
        shelf.write(name, f"---\n{keys}\n---\nThe gateway listens on a port.\n")
    shelf.write("edge.md", "---\ndate: 2026-05-01\n---\nwombat\n")
    answers = []
    for number, name in enumerate(("UTC", "Pacific/Kiritimati", "America/Anchorage")):
        zone.setenv("TZ", name)
        time.tzset()
        vault = shelf.open(index_dir=shelf.indexes / str(number), clock=lambda: NOW)
        answers.append(
            [
                [(hit.id, hit.lines, hit.valid, hit.at, hit.score) for hit in vault.search(query, **arguments)]
                for query, arguments in (
                    ("7 May 2023", {}),
                    ("gateway", {"as_of": "2025-01-01"}),
                    ("gateway", {"as_of": datetime(2024, 12, 31, 23, 59)}),
                    ("wombat", {"after": "2026-05-01", "before": "2026-05-02"}),
                    ("wombat", {"before": "2026-05-01"}),
                )
            ]
        )
    assert answers[0] == answers[1] == answers[2]
    first = [found[0][0] if found else "" for found in answers[0]]
    assert first == ["talk.md", "a-second.md", "c-first.md", "edge.md", ""]
