"""Facts that change: the old card is kept and ends, the new one takes its place, and the past can be asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cogvault.errors import CardError, ConflictError, PathError
from cogvault.types import Action
from tests.lifecycle.conftest import Desk

OLD = "---\ntitle: Port is 80  # always\ncreated: 2026-01-01\n---\nThe wombat server listens on port 80.\n"
NEW = "---\ntitle: Port is 443\ncreated: 2026-05-01\n---\nThe wombat server listens on port 443.\n"


@pytest.fixture
def facts(desk: Desk) -> Desk:
    desk.write("port-80.md", OLD)
    desk.write("port-443.md", NEW)
    return desk


def test_both_cards_say_it_and_nothing_else_changes(facts: Desk) -> None:
    result = facts.vault.supersede("port-80.md", "cogvault://resources/port-443.md")
    assert (result.id, result.action) == ("port-80.md", Action.SUPERSEDED)
    assert facts.read("port-80.md") == OLD.replace(
        "2026-01-01\n", "2026-01-01\nsuperseded_by: port-443\nvalid_until: 2026-05-01T00:00:00Z\n"
    )
    assert facts.read("port-443.md") == NEW.replace("2026-05-01\n", "2026-05-01\nsupersedes: port-80\n")
    assert result.hash == facts.card("port-80.md").hash


def test_saying_it_again_changes_nothing_and_keeps_the_date(facts: Desk) -> None:
    facts.vault.supersede("port-80.md", "port-443.md")
    before = facts.files()
    facts.now += timedelta(days=3)
    assert facts.vault.supersede("port-80.md", "port-443.md").action is Action.UNCHANGED
    assert facts.files() == before


def test_the_half_that_a_kill_left_out_is_written_by_the_same_call(facts: Desk) -> None:
    facts.write("port-443.md", NEW.replace("2026-05-01\n", "2026-05-01\nsupersedes: '[[port-80]]'\n"))
    facts.vault.supersede("port-80.md", "port-443.md")
    assert "supersedes: '[[port-80]]'\n" in facts.read("port-443.md")
    assert "superseded_by: port-443\n" in facts.read("port-80.md")


def test_what_is_outdated_ranks_below_is_labelled_and_is_found_as_of_its_time(facts: Desk) -> None:
    facts.vault.supersede("port-80.md", "port-443.md")
    question = "wombat server port"
    assert [(hit.id, hit.valid) for hit in facts.vault.search(question)] == [
        ("port-443.md", "current"),
        ("port-80.md", "superseded"),
    ]
    [then] = facts.vault.search(question, as_of="2026-03-01")
    assert (then.id, then.valid) == ("port-80.md", "current")
    [now] = facts.vault.search(question, as_of=facts.now)
    assert now.id == "port-443.md"


@pytest.mark.parametrize(
    ("old", "new", "turn"),
    [
        ("created: 2026-01-01", "created: 2026-05-01", "2026-05-01T00:00:00Z"),
        ("created: 2026-01-01", "created: 2026-01-01\nvalid_from: 2026-09-01", "2026-09-01T00:00:00Z"),
        ("title: no dates", "valid_from: 2026-02-01T08:30:00+02:00", "2026-02-01T06:30:00Z"),
        ("created: 2026-01-01", "title: no dates", "2026-06-01T12:00:00Z"),
        ("created: 2026-05-01", "created: 2026-01-01", "2026-06-01T12:00:00Z"),
        ("created: 2026-05-01", "created: 2026-05-01", "2026-06-01T12:00:00Z"),
        ("created: 2026-01-01", "created: 2030-01-01", "2026-06-01T12:00:00Z"),
        ("created: 2026-01-01\nvalid_until: 2026-08-01", "created: 2026-03-01", "2026-03-01T00:00:00Z"),
        ("valid_from: 2027-01-01", "valid_from: 2026-05-02", "2027-01-01T00:00:00Z"),
        ("valid_from: 2027-01-01", "title: no dates", "2027-01-01T00:00:00Z"),
    ],
)
def test_the_old_one_ends_when_the_new_one_begins(desk: Desk, old: str, new: str, turn: str) -> None:
    desk.write("old.md", f"---\n{old}\n---\nThe wombat port is 80.\n")
    desk.write("new.md", f"---\n{new}\n---\nThe wombat port is 443.\n")
    desk.vault.supersede("old.md", "new.md")
    assert desk.card("old.md").valid_until == datetime.fromisoformat(turn)
    assert f"valid_until: {turn}\n" in desk.read("old.md")


def test_at_every_instant_one_of_the_two_holds(desk: Desk) -> None:
    desk.write("old.md", "---\ncreated: 2026-01-01\n---\nThe wombat port is 80.\n")
    for new in ("created: 2026-02-01", "created: 2026-02-01\nvalid_from: 2026-12-01"):
        desk.write("new.md", f"---\n{new}\n---\nThe wombat port is 443.\n")
        desk.write("old.md", "---\ncreated: 2026-01-01\n---\nThe wombat port is 80.\n")
        desk.vault.supersede("old.md", "new.md")
        for month in range(1, 13):
            for day in (1, 15):
                at = datetime(2026, month, day, tzinfo=UTC)
                hits = desk.vault.search("wombat port", as_of=at)
                assert [hit.valid for hit in hits] == ["current"], (new, at)


def test_history_tells_every_version_oldest_first(facts: Desk) -> None:
    facts.write("port-8443.md", "---\ncreated: 2026-07-01\n---\n8443\n")
    facts.write("other.md", "unrelated\n")
    facts.vault.supersede("port-80.md", "port-443.md")
    facts.now = datetime(2026, 7, 2, tzinfo=UTC)
    facts.vault.supersede("port-443.md", "port-8443.md")
    for id in ("port-80.md", "port-443.md", "cortex://resources/port-8443.md"):
        versions = facts.vault.history(id)
        assert [(version.id, version.valid) for version in versions] == [
            ("port-80.md", "superseded"),
            ("port-443.md", "superseded"),
            ("port-8443.md", "current"),
        ]
    assert [(version.since, version.until) for version in versions] == [
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)),
        (datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)),
        (datetime(2026, 7, 1, tzinfo=UTC), None),
    ]
    assert versions[1].supersedes == ("port-80.md",)
    assert versions[1].superseded_by == ("port-8443.md",)
    assert [version.id for version in facts.vault.history("other.md")] == ["other.md"]


def test_one_card_may_take_the_place_of_several_and_several_of_one(facts: Desk) -> None:
    facts.write("both, at once.md", "80 and 443\n")
    facts.vault.supersede("port-80.md", "both, at once.md")
    facts.vault.supersede("port-443.md", "both, at once.md")
    facts.vault.supersede("port-80.md", "port-443.md")
    assert facts.card("both, at once.md").supersedes == ("port-80", "port-443")
    assert facts.card("port-80.md").superseded_by == ("both, at once", "port-443")
    assert [version.id for version in facts.vault.history("port-443.md")] == [
        "port-80.md",
        "port-443.md",
        "both, at once.md",
    ]


def test_circles_are_refused_and_one_made_by_hand_is_survived(facts: Desk) -> None:
    facts.write("third.md", "x\n")
    facts.vault.supersede("port-80.md", "port-443.md")
    facts.vault.supersede("port-443.md", "third.md")
    before = facts.files()
    for old, new in (("port-443.md", "port-80.md"), ("third.md", "port-80.md"), ("third.md", "third.md")):
        with pytest.raises(CardError):
            facts.vault.supersede(old, new)
    assert facts.files() == before
    facts.write("third.md", "---\nsuperseded_by: port-80\n---\nx\n")
    assert len(facts.vault.history("third.md")) == 3


@pytest.mark.parametrize("bad", ["---\ntitle: [\n---\nx\n", "---\ntitle: open\nx\n", b"\xff\xfex\x00"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_card_that_cannot_be_edited_refuses_both(facts: Desk, bad: str | bytes, turned: bool) -> None:
    facts.write("bad.md", bad)
    before = facts.files()
    with pytest.raises(CardError) as caught:
        facts.vault.supersede(*(("bad.md", "port-443.md") if turned else ("port-443.md", "bad.md")))
    assert caught.value.path == "bad.md"
    assert facts.files() == before


def test_a_card_that_an_editor_saves_meanwhile_refuses_both(facts: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    import cogvault.lifecycle.facts as module

    real = module.write_atomic

    def saved_meanwhile(path: object, data: bytes, **arguments: object) -> None:
        if str(path).endswith("port-80.md"):
            facts.write("port-80.md", "saved\n")
        real(path, data, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "write_atomic", saved_meanwhile)
    with pytest.raises(ConflictError):
        facts.vault.supersede("port-80.md", "port-443.md")
    assert facts.read("port-80.md") == "saved\n"
    assert facts.read("port-443.md") == NEW


def test_an_end_that_was_set_stays(facts: Desk) -> None:
    facts.write("port-80.md", OLD.replace("created", "valid_until: 2026-02-01\ncreated"))
    facts.vault.supersede("port-80.md", "port-443.md")
    assert "valid_until: 2026-02-01\n" in facts.read("port-80.md")
    assert facts.read("port-80.md").count("valid_until") == 1


@pytest.mark.parametrize(("old", "new"), [("nothing.md", "port-443.md"), ("port-80.md", "../x.md"), ("", "port-80.md")])
def test_what_is_no_card_is_refused(facts: Desk, old: str, new: str) -> None:
    before = facts.files()
    with pytest.raises(PathError):
        facts.vault.supersede(old, new)
    assert facts.files() == before


def test_history_of_what_is_no_card_is_refused(facts: Desk) -> None:
    with pytest.raises(PathError):
        facts.vault.history("nothing.md")


def test_layers_of_folders_tell_which_cards_do_not_hold_at_all_times(desk: Desk) -> None:
    desk.write("ops/a.md", "# A\n\nThe kiwi port is 80.\n")
    desk.write("ops/b.md", "---\nsupersedes: a\n---\n# B\n\nThe kiwi port is 443.\n")
    desk.write("ops/c.md", "---\nvalid_until: 2020-01-01\n---\n# C\n\nThe melon port is 21.\n")
    desk.write("ops/d.md", "---\nvalid_from: 2027-01-01\n---\n# D\n\nThe plum port is 22.\n")
    vault = desk.open(recursive=True)
    for folder in ("ops", ""):
        layers = vault.layers(folder)
        for text in ("(superseded) The kiwi port is 80.", "(valid until 2020-01-01) The melon port is 21."):
            assert text in layers.abstract
        assert "(valid from 2027-01-01) The plum" in layers.abstract
        assert "The kiwi port is 443." in layers.abstract
        assert "a.md (superseded)\n" in layers.overview
    desk.write("ops/b.md", "# B\n\nThe kiwi port is 443.\n")
    assert "superseded" not in vault.layers("ops").abstract + vault.layers("ops").overview
