"""Layers of cards and folders in a sync, by summarizers that answer at once, later, badly or never."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cogvault.indexing.report import SyncProgress
from cogvault.layers.folder_store import FolderStore
from cogvault.types import Card, CardLayers, Status, Summary
from tests.indexing.support import Desk, SpyEmbedder


@dataclass
class Model:
    """A language model in a summarizer's clothes: gives drafts at once, and its own words when it is asked."""

    fingerprint: str = "model-1"
    answer: Callable[[Card], Summary] = lambda card: Summary(f"said of {card.title}", "said")
    said: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)

    def draft(self, card: Card) -> Summary:
        if self.said.get(card.id) == card.body:
            return self.answer(card)
        return Summary(f"draft of {card.title}", "draft", ("not asked yet",))

    def summarize(self, card: Card) -> Summary:
        self.asked.append(card.id)
        summary = self.answer(card)
        if not summary.notes:
            self.said[card.id] = card.body
        return summary

    def forget(self, id: str) -> None:
        self.forgotten.append(id)

    def rename(self, old: str, new: str) -> None:
        self.renamed.append((old, new))


def failing(card: Card) -> Summary:
    return Summary(f"draft of {card.title}", "draft", ("the model is down",))


@pytest.fixture
def desk(vault: Path) -> Desk:
    return Desk(vault, keyword_only=True)


@pytest.fixture
def model(desk: Desk) -> Model:
    desk.summarizer = model = Model()
    return model


def abstract(desk: Desk, id: str) -> str:
    return desk.index.snapshot().layers([id])[0].abstract


def test_a_card_is_searchable_before_the_model_is_asked(desk: Desk, model: Model) -> None:
    seen: list[str] = []

    def answer(card: Card) -> Summary:
        seen.append(abstract(desk, "a.md"))
        return Summary("said", "said")

    model.answer = answer
    desk.write("a.md", "alpha")
    report = desk.sync()
    assert seen == ["draft of a"]
    assert abstract(desk, "a.md") == "said"
    assert (report.status, report.problems) == (Status.OK, ())
    assert (report.summarized, report.pending_summaries) == (1, 0)
    assert desk.index.snapshot().cards[0].problems == ()


def test_unchanged_cards_are_never_summarized_twice(desk: Desk, model: Model) -> None:
    for name in "ab":
        desk.write(f"{name}.md", name)
    desk.sync()
    desk.write("b.md", "another text")
    assert desk.sync().summarized == 1
    assert model.asked == ["a.md", "b.md", "b.md"]
    assert desk.sync().summarized == 0


def test_who_cannot_wait_gets_drafts_and_the_next_sync_asks(desk: Desk, model: Model) -> None:
    desk.write("a.md", "alpha")
    report = desk.sync(embed_limit=0)
    assert (report.status, report.problems, report.pending_summaries) == (Status.OK, (), 1)
    assert model.asked == []
    assert desk.sync().summarized == 1


def test_a_look_at_some_files_concerns_the_drafts_of_no_others(desk: Desk, model: Model) -> None:
    for name in "ab":
        desk.write(f"{name}.md", name)
    assert desk.sync(embed_limit=0).pending_summaries == 2
    desk.write("b.md", "another text")
    assert desk.sync(paths=["b.md"], embed_limit=0).pending_summaries == 1
    report = desk.sync(paths=["b.md"])
    assert (report.status, report.summarized, report.pending_summaries) == (Status.OK, 1, 0)
    assert model.asked == ["b.md"]
    assert desk.sync().summarized == 1


def test_a_model_that_fails_leaves_drafts_says_so_and_is_asked_again(desk: Desk, model: Model) -> None:
    model.answer = failing
    desk.write("a.md", "alpha")
    report = desk.sync()
    assert (report.status, report.pending_summaries) == (Status.DEGRADED, 1)
    assert [(problem.path, problem.code, problem.message) for problem in report.problems] == [
        ("a.md", "summarizer", "the model is down")
    ]
    assert "1 cards have extracted" in report.reason
    assert abstract(desk, "a.md") == "draft of a"
    model.answer = Model.answer
    assert desk.sync().status is Status.OK
    assert abstract(desk, "a.md") == "said of a"


def test_an_answer_equal_to_the_draft_is_one(desk: Desk, model: Model) -> None:
    model.answer = lambda card: Summary(f"draft of {card.title}", "draft")
    desk.write("a.md", "alpha")
    assert desk.sync().pending_summaries == 0


def test_a_model_that_gives_nothing_is_not_asked_for_ever(desk: Desk, model: Model) -> None:
    model.answer = failing
    for number in range(100):
        desk.write(f"{number:03}.md", f"card {number}")
    report = desk.sync()
    assert (len(model.asked), report.pending_summaries) == (64, 100)


def test_one_refused_card_does_not_keep_others_from_their_turn(desk: Desk, model: Model) -> None:
    model.answer = lambda card: failing(card) if card.id == "a.md" else Summary("said", "said")
    for name in "abc":
        desk.write(f"{name}.md", name)
    report = desk.sync()
    assert (report.summarized, report.pending_summaries) == (2, 1)


def test_a_card_that_changes_while_the_model_thinks_keeps_its_new_text(desk: Desk, model: Model) -> None:
    def answer(card: Card) -> Summary:
        if "new" not in card.body:
            desk.write("a.md", "new text")
            desk.sync(embed_limit=0)
        return Summary(f"said of {card.body}", "said")

    model.answer = answer
    desk.write("a.md", "old text")
    report = desk.sync()
    assert (abstract(desk, "a.md"), report.pending_summaries) == ("draft of a", 1)
    desk.sync()
    assert abstract(desk, "a.md").strip() == "said of new text"


def test_nothing_is_kept_of_a_card_that_goes_while_the_model_thinks(desk: Desk, model: Model) -> None:
    def answer(card: Card) -> Summary:
        (desk.root / "a.md").unlink()
        desk.sync(embed_limit=0)
        model.forgotten.clear()
        return Summary("said", "said")

    model.answer = answer
    desk.write("a.md", "alpha")
    desk.sync()
    assert len(desk.index.snapshot().cards) == 0
    assert model.forgotten == ["a.md"]


def test_the_summarizer_hears_of_removed_and_moved_cards(desk: Desk, model: Model) -> None:
    for name in "ab":
        desk.write(f"{name}.md", f"text of {name}")
    desk.sync()
    (desk.root / "a.md").unlink()
    (desk.root / "b.md").rename(desk.root / "c.md")
    desk.sync()
    assert (model.forgotten, model.renamed) == (["a.md"], [("b.md", "c.md")])


def test_layers_stay_where_only_what_they_are_not_made_from_changed(desk: Desk, model: Model) -> None:
    desk.write("a.md", "---\ntitle: goals\ntags: [x]\n---\nalpha")
    desk.write("b.md", "---\ntitle: plans\n---\nbeta")
    desk.sync()
    model.asked.clear()
    model.said.clear()  # it knows nothing of what it said before
    desk.write("a.md", "---\ntitle: goals\ntags: [y, z]\n---\nalpha")
    (desk.root / "b.md").rename(desk.root / "c.md")
    report = desk.sync()
    assert (report.changed, report.moved, report.layers_reused) == (("a.md",), (("b.md", "c.md"),), 2)
    assert (model.asked, report.pending_summaries) == ([], 0)
    assert [abstract(desk, id) for id in ("a.md", "c.md")] == ["said of goals", "said of plans"]


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: aims\nsummary: s\ndescription: d\n---\nalpha",
        "---\ntitle: goals\nsummary: t\ndescription: d\n---\nalpha",
        "---\ntitle: goals\nsummary: s\ndescription: e\n---\nalpha",
        "---\ntitle: goals\nsummary: s\ndescription: d\n---\nalpha beta",
    ],
)
def test_whatever_layers_are_made_from_makes_them_anew(desk: Desk, model: Model, text: str) -> None:
    desk.write("a.md", "---\ntitle: goals\nsummary: s\ndescription: d\n---\nalpha")
    desk.sync()
    model.asked.clear()
    model.said.clear()
    desk.write("a.md", text)
    assert desk.sync().layers_reused == 0
    assert model.asked == ["a.md"]


def test_a_draft_is_not_kept_for_the_edited_card(desk: Desk, model: Model) -> None:
    model.answer = failing
    desk.write("a.md", "---\ntags: [x]\n---\nalpha")
    desk.sync()
    model.answer = Model.answer
    desk.write("a.md", "---\ntags: [y]\n---\nalpha")
    report = desk.sync()
    assert (report.layers_reused, report.summarized, abstract(desk, "a.md")) == (0, 1, "said of a")


def test_another_summarizer_makes_layers_anew_and_no_vector(desk: Desk) -> None:
    desk.embedder = spy = SpyEmbedder()
    desk.keyword_only = False
    desk.summarizer = Model()
    for name in "ab":
        desk.write(f"{name}.md", f"text of {name}")
    desk.sync()
    embedded = len(spy.texts)
    desk.summarizer = Model("model-2", lambda card: Summary("better", "better"))
    report = desk.sync()
    assert (report.refreshed, report.summarized, report.embedded) == (2, 2, 0)
    assert abstract(desk, "a.md") == "better"
    assert len(spy.texts) == embedded


def test_a_killed_run_keeps_what_the_model_said(desk: Desk, model: Model) -> None:
    for number in range(20):
        desk.write(f"{number:02}.md", f"card {number}")

    def kill(step: SyncProgress) -> None:
        if step.stage == "summaries" and step.done >= 8:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        desk.sync(progress=kill)
    assert desk.sync().summarized == 12
    assert len(model.asked) == 20


def test_a_summarizer_that_raises_costs_its_card_the_layers_only(desk: Desk, model: Model) -> None:
    def down(card: Card) -> Summary:
        raise TimeoutError("the server is down")

    model.answer = down
    desk.write("a.md", "alpha")
    report = desk.sync()
    assert report.added == ("a.md",)
    [problem] = report.problems
    assert (problem.path, problem.code) == ("a.md", "summarizer")
    assert "the server is down" in problem.message


@pytest.fixture
def folders(desk: Desk, model: Model, tmp_path: Path) -> FolderStore:
    desk.scan = type(desk.scan)(recursive=True)
    desk.folders = FolderStore(tmp_path / "folders.sqlite")
    for path in ("top.md", "user/ana/goals.md", "user/bo/goals.md"):
        desk.write(path, f"text of {path}")
    assert desk.sync().folders == 4
    return desk.folders


def test_folders_are_made_of_what_the_model_said(folders: FolderStore) -> None:
    assert folders.layers(["user/ana"]) == [CardLayers("said of goals", "## goals.md\n\nsaid")]


def test_a_change_reaches_its_folders_only(desk: Desk, folders: FolderStore) -> None:
    desk.write("user/ana/goals.md", "another text")
    assert desk.sync().folders == 3
    assert desk.sync().folders == 0


def test_an_emptied_folder_loses_its_layers(desk: Desk, folders: FolderStore) -> None:
    (desk.root / "user/bo/goals.md").unlink()
    desk.sync()
    assert folders.find("user/bo") is None
    assert "bo" not in folders.layers([""])[0].overview


def test_lost_and_damaged_folder_layers_are_made_again(desk: Desk, folders: FolderStore, tmp_path: Path) -> None:
    before = folders.layers(["", "user", "user/ana", "user/bo"])
    for damage in (Path.unlink, lambda path: path.write_bytes(b"no database at all")):
        damage(tmp_path / "folders.sqlite")
        assert desk.sync().folders == 4
        assert folders.layers(["", "user", "user/ana", "user/bo"]) == before


def test_folders_that_were_missed_by_a_killed_run_are_made_up_for(desk: Desk, folders: FolderStore) -> None:
    desk.folders = None
    desk.write("user/ana/more.md", "more text")
    desk.sync()
    desk.folders = folders
    assert desk.sync().folders == 3
    assert "more.md" in folders.layers(["user/ana"])[0].overview
