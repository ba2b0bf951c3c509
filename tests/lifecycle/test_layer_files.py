"""Layers of folders as files: written beside the cards, people's edits respected, never cards themselves."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards import MarkdownCardParser
from cogvault.config import Config
from cogvault.indexes import MemoryIndex
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.rollups import VaultLayers
from cogvault.indexing.scan import ScanOptions, scan
from cogvault.indexing.sync import Syncer
from cogvault.layers.file_form import read_layer, write_layer
from cogvault.layers.folder_store import FolderStore
from cogvault.layers.summarizers import ExtractiveSummarizer
from cogvault.lifecycle.layer_files import Layers
from cogvault.protocols import Snapshot
from cogvault.types import CardLayers, LayerFilesReport
from tests.lifecycle.session_worker import workspace

ALL = (".abstract.md", ".overview.md", "user/.abstract.md", "user/.overview.md", "user/ana/.abstract.md")


class Shelf:
    """A vault on disk with an index that is equal to it whenever it is looked at."""

    def __init__(self, base: Path, **settings: bool) -> None:
        self.root = base / "vault"
        self.config = Config(recursive=settings.get("recursive", True), ignore=("ignored/",))
        self.base = base
        self.write("user/ana/tea.md", "Ana drinks green tea in the morning.")
        self.write("plan.md", "We move the queue to Postgres in May.")
        self.lose_index()

    def lose_index(self) -> None:
        self.index = MemoryIndex()
        self.store = FolderStore(self.base / f"folders-{len(list(self.base.iterdir()))}.sqlite")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def fresh(self) -> Snapshot:
        options = SyncOptions(self.base / "index", ScanOptions.from_config(self.config))
        summarizer = ExtractiveSummarizer()
        Syncer(
            self.root, self.index, MarkdownCardParser(), None, options, summarizer=summarizer, folders=self.store
        ).sync()
        return self.index.snapshot()

    @property
    def layers(self) -> Layers:
        space = replace(workspace(self.base), config=self.config, fresh=self.fresh)
        made = VaultLayers(self.fresh, self.store, ExtractiveSummarizer().fingerprint)
        return Layers(made, self.store, space)

    def files(self) -> set[str]:
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob(".*.md")}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path.resolve())


def test_each_folder_gets_its_layers_beside_its_cards(shelf: Shelf) -> None:
    report = shelf.layers.export()
    assert set(report.written) == {*ALL, "user/ana/.overview.md"}
    text = (shelf.root / "user/ana/.abstract.md").read_text("utf-8")
    assert text.startswith("Ana drinks green tea in the morning.\n\n<!-- made by cogvault, edit the text above")
    again = shelf.layers.export()
    assert (again.written, again.unchanged) == ((), 6)


def test_a_folder_that_cannot_be_listed_keeps_no_other_from_its_layers(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("shut/a.md", "Nobody sees this.")
    listed = os.scandir

    def refuse(path: str | Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = shelf.layers.export()
    assert (set(report.written), report.problems) == ({*ALL, "user/ana/.overview.md"}, ())


def test_they_are_never_cards(shelf: Shelf) -> None:
    shelf.layers.export()
    assert [card.id for card in shelf.fresh().cards] == ["plan.md", "user/ana/tea.md"]
    assert set(scan(shelf.root, ScanOptions(recursive=True)).files) == {"plan.md", "user/ana/tea.md"}


def test_a_changed_card_changes_the_files_above_it_only(shelf: Shelf) -> None:
    shelf.write("agent/bot/case.md", "The deploy failed.")
    shelf.layers.export()
    shelf.write("user/ana/tea.md", "Ana drinks black coffee at noon.")
    report = shelf.layers.export()
    assert {path.rpartition("/")[0] for path in report.written} == {"", "user", "user/ana"}
    assert report.unchanged == 4


def test_what_a_person_wrote_is_the_layer_and_is_never_written_over(shelf: Shelf) -> None:
    shelf.layers.export()
    path = shelf.root / "user/ana/.abstract.md"
    path.write_text(path.read_text("utf-8").replace("Ana drinks", "Ana prefers"), "utf-8")
    edited = path.read_bytes()
    report = shelf.layers.export()
    assert report.edited == ("user/ana/.abstract.md",)
    assert path.read_bytes() == edited
    found = shelf.layers("user/ana")
    assert found.abstract == "Ana prefers green tea in the morning."
    assert found.overview.startswith("## tea.md")


def test_an_edit_outlives_the_index(shelf: Shelf) -> None:
    shelf.layers.export()
    shelf.write("user/.overview.md", (shelf.root / "user/.overview.md").read_text("utf-8").replace("tea", "TEA"))
    shelf.lose_index()
    assert "TEA" in shelf.layers("user").overview


def test_an_edit_ends_when_a_card_changes_and_an_import_takes_it_up_again(shelf: Shelf) -> None:
    shelf.layers.export()
    path = shelf.root / "user/ana/.abstract.md"
    path.write_text(path.read_text("utf-8").replace("Ana drinks", "Ana prefers"), "utf-8")
    assert shelf.layers.import_edits() == LayerFilesReport(edited=("user/ana/.abstract.md",))
    shelf.write("user/ana/tea.md", "Ana drinks black coffee at noon.")
    assert shelf.layers("user/ana").abstract == "Ana drinks black coffee at noon."
    assert shelf.layers.export().outdated == ("user/ana/.abstract.md",)
    report = shelf.layers.import_edits()
    assert (report.written, report.edited) == (("user/ana/.abstract.md",), ("user/ana/.abstract.md",))
    assert shelf.layers("user/ana").abstract == "Ana prefers green tea in the morning."
    assert shelf.layers.export().edited == ("user/ana/.abstract.md",)


def test_a_file_that_nobody_exported_is_taken_in_by_an_import(shelf: Shelf) -> None:
    shelf.write("user/.abstract.md", "People, by name.\r\n")
    before = shelf.layers("user").abstract
    assert before != "People, by name."
    assert shelf.layers.export().outdated == ("user/.abstract.md",)
    shelf.layers.import_edits()
    assert shelf.layers("user").abstract == "People, by name."


def test_who_empties_a_file_gets_it_anew(shelf: Shelf) -> None:
    shelf.layers.export()
    before = (shelf.root / ".abstract.md").read_bytes()
    shelf.write(".abstract.md", "\n")
    assert shelf.layers.export().written == (".abstract.md",)
    assert (shelf.root / ".abstract.md").read_bytes() == before


def test_files_of_emptied_folders_go_and_those_of_people_stay(shelf: Shelf) -> None:
    shelf.layers.export()
    shelf.write("user/.abstract.md", "I wrote this.")
    (shelf.root / "user/ana/tea.md").unlink()
    report = shelf.layers.export()
    assert set(report.removed) == {"user/.overview.md", "user/ana/.abstract.md", "user/ana/.overview.md"}
    assert report.outdated == ("user/.abstract.md",)
    assert shelf.files() == {".abstract.md", ".overview.md", "user/.abstract.md"}


def test_folders_that_do_not_belong_to_the_vault_are_left_alone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path.resolve(), recursive=False)
    data = write_layer("Of another vault.", "source")
    for folder in ("other", "user/ignored", ".archive"):
        shelf.write(f"{folder}/.abstract.md", data.decode())
    shelf.layers.export()
    assert {"other/.abstract.md", "user/ignored/.abstract.md", ".archive/.abstract.md"} <= shelf.files()


def test_no_link_is_followed(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    (shelf.root / ".abstract.md").symlink_to(outside)
    (shelf.root / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    assert "secret" not in shelf.layers().abstract
    report = shelf.layers.export()
    assert [problem.path for problem in report.problems] == [".abstract.md"]
    assert outside.read_text() == "secret"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_whose_name_is_decomposed_on_disk_has_its_edits(shelf: Shelf) -> None:
    shelf.write("user/Ame\u0301lie/card.md", "Amélie plays chess.")
    shelf.layers.export()
    path = shelf.root / "user/Ame\u0301lie/.abstract.md"
    path.write_text(path.read_text("utf-8").replace("plays", "loves"), "utf-8")
    assert shelf.layers("user/Amélie").abstract == "Amélie loves chess."


def test_cards_have_the_layers_that_were_made(shelf: Shelf) -> None:
    assert shelf.layers("plan.md") == CardLayers(
        "We move the queue to Postgres in May.", "We move the queue to Postgres in May."
    )


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(max_size=8))
def test_a_text_that_was_made_is_not_taken_for_an_edit(text: str, source: str) -> None:
    file = read_layer(write_layer(text, source).decode())
    assert file.text == text.strip()
    assert not file.is_edited
    assert file.speaks_of(source)


def test_a_text_at_the_end_of_the_file_counts_as_well(shelf: Shelf) -> None:
    shelf.layers.export()
    file = shelf.root / ".abstract.md"
    file.write_text(f"{file.read_text(encoding='utf-8')}Ask Mara first.\n", encoding="utf-8")
    assert shelf.layers().abstract.endswith("\n\nAsk Mara first.")
    assert shelf.layers.export().edited == (".abstract.md",)
