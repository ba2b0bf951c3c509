"""Sweeps: what is kept and why, what goes, and that a dry run does nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards import MarkdownCardParser
from cogvault.config import Config
from cogvault.errors import CardError, ConfigError, VaultError
from cogvault.indexes import MemoryIndex
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.report import SyncReport
from cogvault.indexing.sync import Syncer
from cogvault.lifecycle.sweep import Forgetting, SweepRules, judge, measure
from cogvault.lifecycle.usage import Usage, Used
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Snapshot
from cogvault.types import Action, CardInfo, Stamp, SweepItem, Verdict, WriteResult
from tests.lifecycle.session_worker import workspace

NOW = datetime(2026, 6, 1, tzinfo=UTC)
RULES = SweepRules(min_strength=0.3, grace_days=30, evergreen_types=("feedback", "reference"))


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def card(id: str = "a.md", *, written_days_ago: float = 0, **fields: Any) -> CardInfo:
    written = days_ago(written_days_ago)
    dated = fields.pop("date", None) or fields.get("updated") or fields.get("created") or written
    stamp = Stamp(1, int(written.timestamp() * 1e9), 1)
    return CardInfo(id=id, path=id, title=id, dated=dated, stamp=stamp, hash="", **fields)


def judged(found: CardInfo, used: Used | None = None, rules: SweepRules = RULES) -> SweepItem:
    [item] = judge([found], {} if used is None else {found.id: used}, rules, NOW)
    return item


@pytest.mark.parametrize(
    ("found", "used", "verdict", "reason"),
    [
        (card(written_days_ago=400), None, Verdict.WEAK, "strength 0.05 after 400 days, half-life 90, never used"),
        (card(written_days_ago=400, pinned=True), None, Verdict.PINNED, "pinned"),
        (card(written_days_ago=400, type="Feedback"), None, Verdict.EVERGREEN, "cards of type Feedback are evergreen"),
        (card(written_days_ago=29), None, Verdict.YOUNG, "changed 29 days ago, within 30 days of grace"),
        (card(written_days_ago=100), None, Verdict.STRONG, "strength 0.46 after 100 days, half-life 90, never used"),
        (
            card(written_days_ago=400),
            Used(3, days_ago(10)),
            Verdict.STRONG,
            "strength 0.96 after 10 days, half-life 180, used 3 times",
        ),
        (card(written_days_ago=400, importance=1.0), None, Verdict.STRONG, "strength 0.46 after 400 days"),
        (card(written_days_ago=400, created=days_ago(5)), None, Verdict.YOUNG, "changed 5 days ago"),
        (card(written_days_ago=400, created=days_ago(-9)), None, Verdict.YOUNG, "changed 0 days ago"),
        (card(written_days_ago=40, created=days_ago(900)), None, Verdict.WEAK, "strength 0.00 after 900 days"),
        (card(written_days_ago=2, created=days_ago(900)), None, Verdict.YOUNG, "changed 2 days ago"),
        (card(written_days_ago=400, date=days_ago(5)), None, Verdict.YOUNG, "changed 5 days ago"),
        (card(written_days_ago=400, created=days_ago(900), date=days_ago(50)), None, Verdict.STRONG, "strength 0.68"),
        (card(written_days_ago=400, valid_from=days_ago(-5)), None, Verdict.STRONG, "strength 1.00 after 0 days"),
    ],
)
def test_every_card_has_a_verdict_and_its_reason(
    found: CardInfo, used: Used | None, verdict: Verdict, reason: str
) -> None:
    item = judged(found, used)
    assert item.verdict is verdict
    assert item.reason.startswith(reason)


@given(
    pinned=st.booleans(),
    kind=st.sampled_from([None, "feedback", "REFERENCE", "project"]),
    written=st.floats(0, 2000),
    created=st.none() | st.floats(-100, 2000),
    importance=st.none() | st.floats(0, 1),
    uses=st.integers(0, 100),
    min_strength=st.floats(0, 1),
    grace=st.floats(0, 100),
)
def test_nothing_pinned_evergreen_or_young_ever_goes(
    pinned: bool,
    kind: str | None,
    written: float,
    created: float | None,
    importance: float | None,
    uses: int,
    min_strength: float,
    grace: float,
) -> None:
    found = card(
        written_days_ago=written,
        pinned=pinned,
        type=kind,
        importance=importance,
        created=None if created is None else days_ago(created),
    )
    used = Used(uses, days_ago(1999)) if uses else None
    item = judged(found, used, SweepRules(min_strength, grace, ("feedback", "reference")))
    if item.verdict is Verdict.WEAK:
        assert not pinned
        assert kind in (None, "project")
        assert min(written, written if created is None else created) >= grace
        assert item.card.strength < min_strength


def test_forgetting_begins_with_the_last_use_or_the_last_change() -> None:
    old = card(written_days_ago=1, created=days_ago(300), updated=days_ago(200))
    assert measure(old, None, NOW).since == days_ago(200)
    assert measure(old, Used(1, days_ago(50)), NOW).since == days_ago(50)
    assert measure(old, Used(1, days_ago(250)), NOW).since == days_ago(200)
    assert measure(card(written_days_ago=7), None, NOW).since == days_ago(7)


def test_the_weakest_come_first_and_equal_ones_by_id() -> None:
    cards = [card("b.md", written_days_ago=50), card("a.md", written_days_ago=50), card("c.md", written_days_ago=500)]
    assert [item.card.id for item in judge(cards, {}, RULES, NOW)] == ["c.md", "a.md", "b.md"]


class Shelf:
    """A vault on disk with an index, and an archive that is a folder."""

    def __init__(self, base: Path) -> None:
        self.root = base / "vault"
        self.root.mkdir()
        self.base = base
        self.index = MemoryIndex()
        self.now = NOW
        self.usage = Usage(base / "state" / "usage.sqlite", lambda: self.now)
        self.purged: list[str] = []

    def forgetting(self, **settings: Any) -> Forgetting:
        return Forgetting(self.workspace(**settings), self.usage, self.archive, self.purge)

    def workspace(self, **settings: Any) -> Workspace:
        return replace(
            workspace(self.base),
            config=Config(**settings),
            fresh=self.fresh,
            latest=lambda: (self.fresh(), SyncReport()),
            clock=lambda: self.now,
        )

    def fresh(self) -> Snapshot:
        Syncer(self.root, self.index, MarkdownCardParser(), None, SyncOptions(self.base / "index")).sync()
        return self.index.snapshot()

    def write(self, name: str, text: str, written_days_ago: float) -> None:
        (self.root / name).write_text(text)
        seconds = days_ago(written_days_ago).timestamp()
        os.utime(self.root / name, (seconds, seconds))

    def archive(self, id: str) -> WriteResult:
        if id.startswith("stuck"):
            raise CardError("cannot be moved", path=id)
        (self.root / ".archive").mkdir(exist_ok=True)
        (self.root / id).rename(self.root / ".archive" / id)
        return WriteResult(id, Action.ARCHIVED)

    def purge(self, id: str) -> WriteResult:
        (self.root / id).unlink()
        self.purged.append(id)
        return WriteResult(id, Action.PURGED)

    def files(self) -> set[str]:
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob("*.md")}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    shelf.write("old.md", "Old.", 400)
    shelf.write("pinned.md", "---\npinned: true\n---\nOld.", 400)
    shelf.write("new.md", "New.", 3)
    yield shelf
    shelf.usage.close()


def test_a_dry_run_says_what_would_go_and_changes_nothing(shelf: Shelf) -> None:
    report = shelf.forgetting().sweep(apply=False)
    assert [item.card.id for item in report.weak] == ["old.md"]
    assert not report.applied
    assert [item.action for item in report.items] == [None] * 3
    assert shelf.files() == {"old.md", "pinned.md", "new.md"}


def test_applying_archives_the_weak(shelf: Shelf) -> None:
    report = shelf.forgetting().sweep(apply=True)
    assert [(item.card.id, item.action) for item in report.weak] == [("old.md", Action.ARCHIVED)]
    assert shelf.files() == {".archive/old.md", "pinned.md", "new.md"}
    assert shelf.forgetting().sweep(apply=True).weak == ()


def test_a_use_keeps_a_card(shelf: Shelf) -> None:
    shelf.usage.count(["old.md"])
    assert shelf.forgetting().sweep(apply=True).weak == ()
    found = {card.id: card for card in shelf.forgetting().strengths()}
    assert (found["old.md"].uses, found["old.md"].strength) == (1, 1.0)


def test_a_sweep_without_counts_is_refused_and_moves_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.usage.count(["old.md"])
    shelf.usage.close()
    monkeypatch.setattr("cogvault.lifecycle.usage._WAIT_SECONDS", 0.01)
    before = shelf.files()
    with closing(sqlite3.connect(shelf.usage.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(VaultError, match="how often cards were used"):
            shelf.forgetting().sweep(apply=True)
        with pytest.raises(VaultError, match="how often cards were used"):
            shelf.forgetting().strengths()
        shelf.forgetting(forgetting_enabled=True).sweep_by_schedule()
    assert shelf.files() == before


def test_cards_are_not_archived_because_their_counts_were_lost(shelf: Shelf) -> None:
    shelf.usage.count(["old.md"] * 20)
    shelf.usage.close()
    shelf.usage.path.write_bytes(b"this is no database, whatever its name may say" * 100)
    before = shelf.files()
    shelf.forgetting(forgetting_enabled=True).sweep_by_schedule()
    assert shelf.files() == before
    shelf.now += timedelta(days=400)
    assert [item.card.id for item in shelf.forgetting().sweep(apply=True).weak] == ["new.md", "old.md"]


@pytest.mark.parametrize(
    "head",
    [
        "---\ntitle: a: b\npinned: true\ntype: feedback\n---\n",
        "---\npinned: true\ntype: feedback\n",
        "---\npinned: yess\n---\n",
        "---\npinned: false\ntype: [feedback, note]\n---\n",
        "---\nupdated: 29.11.2026\n---\n",
        "---\ncreated: 2020-01-01\nupdated: last week\n---\n",
        "---\ndate: Nov 29, 2026\n---\n",
        "---\nvalid_until: 2026-02-30\n---\n",
        "---\nreview_by: in spring\n---\n",
    ],
)
def test_a_card_that_may_be_one_to_keep_is_kept_and_named(shelf: Shelf, head: str) -> None:
    shelf.write("unsure.md", f"{head}Old.", 800)
    report = shelf.forgetting().sweep(apply=True)
    [item] = [item for item in report.items if item.card.id == "unsure.md"]
    assert (item.verdict, item.action) == (Verdict.UNREADABLE, None)
    assert "correct it" in item.reason
    assert "unsure.md" in shelf.files()


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("Pinned: true", "the key 'Pinned' is not read: write pinned"),
        ("pin: true", "the key 'pin' is not read: write pinned"),
        ("metadata:\n  Type: feedback", "the key 'Type' is not read: write type"),
        ("Updated: 2026-05-30", "the key 'Updated' is not read: write updated"),
    ],
)
def test_a_card_with_a_key_beside_the_one_that_keeps_it_is_kept_and_named(shelf: Shelf, head: str, reason: str) -> None:
    shelf.write("unsure.md", f"---\n{head}\n---\nOld.", 800)
    [item] = [item for item in shelf.forgetting().sweep(apply=True).items if item.card.id == "unsure.md"]
    assert (item.verdict, item.action, item.reason) == (Verdict.UNREADABLE, None, reason)


def test_a_key_beside_one_that_keeps_nothing_keeps_nothing(shelf: Shelf) -> None:
    shelf.write("weak.md", "---\nTitle: Old\ntag: x\npin: 4711\n---\nOld.", 800)
    assert "weak.md" in [item.card.id for item in shelf.forgetting().sweep(apply=False).weak]


def test_uses_of_cards_that_somebody_deleted_are_dropped(shelf: Shelf) -> None:
    (shelf.root / "other").mkdir()
    shelf.write("other/not-walked.md", "In a folder of a flat vault.", 1)
    shelf.usage.count(["gone.md", "new.md", "other/not-walked.md"])
    shelf.forgetting().sweep(apply=False)
    assert "gone.md" in shelf.usage.all()
    shelf.usage.count(["old.md"])
    shelf.now += timedelta(days=1000)
    shelf.forgetting().sweep(apply=True)
    assert set(shelf.usage.all()) == {"new.md", "old.md", "other/not-walked.md"}
    assert ".archive/old.md" in shelf.files()


def test_a_card_that_cannot_be_archived_does_not_keep_the_others(shelf: Shelf) -> None:
    shelf.write("stuck.md", "Old too.", 500)
    report = shelf.forgetting().sweep(apply=True)
    assert [(item.card.id, item.action) for item in report.weak] == [("stuck.md", None), ("old.md", Action.ARCHIVED)]
    assert [(problem.path, problem.code) for problem in report.problems] == [("stuck.md", "not-forgotten")]


def test_a_card_that_is_pinned_while_the_sweep_runs_stays(shelf: Shelf) -> None:
    shelf.write("zz.md", "Old as well.", 400)
    archive = shelf.archive

    def pin_another_first(id: str) -> WriteResult:
        (shelf.root / "zz.md").write_text("---\npinned: true\n---\nOld as well.")
        return archive(id)

    report = Forgetting(shelf.workspace(), shelf.usage, pin_another_first, shelf.purge).sweep(apply=True)
    assert {item.card.id: item.verdict for item in report.items if item.card.id in ("old.md", "zz.md")} == {
        "old.md": Verdict.WEAK,
        "zz.md": Verdict.CHANGED,
    }
    assert "zz.md" in shelf.files()


def test_deleting_needs_a_setting_and_a_word(shelf: Shelf) -> None:
    with pytest.raises(ConfigError, match="forgetting_archive_before_delete"):
        shelf.forgetting().sweep(apply=True, purge=True)
    forgetting = shelf.forgetting(forgetting_archive_before_delete=False)
    assert forgetting.sweep(apply=False, purge=True).weak[0].action is None
    assert shelf.purged == []
    assert [item.action for item in forgetting.sweep(apply=True, purge=True).weak] == [Action.PURGED]
    assert shelf.purged == ["old.md"]


def test_the_schedule_runs_only_when_it_is_on_and_once_an_interval(shelf: Shelf) -> None:
    shelf.forgetting().sweep_by_schedule()
    assert "old.md" in shelf.files()
    on = shelf.forgetting(forgetting_enabled=True, forgetting_scan_interval_hours=24)
    on.sweep_by_schedule()
    assert "old.md" not in shelf.files()
    shelf.write("older.md", "Old.", 600)
    shelf.now += timedelta(hours=23)
    on.sweep_by_schedule()
    assert "older.md" in shelf.files()
    shelf.now += timedelta(hours=1)
    on.sweep_by_schedule()
    assert "older.md" not in shelf.files()


def test_a_schedule_that_fails_is_logged(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away() -> Snapshot:
        raise VaultError("the folder is away")

    monkeypatch.setattr(shelf, "fresh", away)
    shelf.forgetting(forgetting_enabled=True).sweep_by_schedule()
    assert "not archived: the folder is away" in caplog.text


def test_the_limits_are_settings(shelf: Shelf) -> None:
    assert shelf.forgetting(forgetting_min_strength=0).sweep(apply=False).weak == ()
    strict = shelf.forgetting(forgetting_min_strength=1, forgetting_grace_days=0).sweep(apply=False)
    assert {item.card.id for item in strict.weak} == {"old.md", "new.md"}


def test_the_report_is_json(shelf: Shelf) -> None:
    document = shelf.forgetting().sweep(apply=False).to_dict()
    assert document["applied"] is False
    assert isinstance(document["items"], list)
    first = document["items"][0]
    assert isinstance(first, dict)
    assert first["verdict"] in set(Verdict)
