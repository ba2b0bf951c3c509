from __future__ import annotations

import json
import os
import threading
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from cogvault.errors import IndexFault, ModelError, SnapshotExpired, VaultError
from cogvault.indexes.memory import MemorySnapshot
from cogvault.indexing import cardfiles
from cogvault.indexing.chunker import Chunker
from cogvault.indexing.last_sync import LastSync
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.reading import FileBytes, read_file
from cogvault.indexing.report import Progress, SyncProgress, SyncReport
from cogvault.indexing.scan import ScanOptions, ScanResult, root_id, scan, stamp_of
from cogvault.indexing.sync import Syncer
from cogvault.types import Card, Filter, FloatArray, Status, StoredChunk
from tests.indexing.support import Desk, SpyEmbedder, content, later_ns, paragraphs, unavailable


@pytest.fixture
def desk(vault: Path) -> Desk:
    return Desk(vault)


@pytest.fixture
def spy(desk: Desk) -> SpyEmbedder:
    desk.embedder = embedder = SpyEmbedder()
    return embedder


def fresh(desk: Desk) -> dict[str, object]:
    """What an index made from nothing would hold."""
    again = Desk(desk.root, parser=desk.parser, chunker=desk.chunker, embedder=desk.embedder, scan=desk.scan)
    again.sync()
    return content(again.index, desk.embedder)


def assert_as_fresh(desk: Desk) -> None:
    assert content(desk.index, desk.embedder) == fresh(desk)


def test_a_first_sync_adds_every_card(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "alpha\n\nbeta")
    desk.write("b.md", "---\ntitle: Gamma\n---\nnote")
    report = desk.sync()
    assert report.added == ("a.md", "b.md")
    assert report.status is Status.OK
    assert (report.embedded, report.pending_vectors) == (5, 0)
    assert report.seconds >= report.keyword_seconds > 0
    assert desk.ids == ["a.md", "b.md"]


def test_nothing_changed_means_nothing_done(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "alpha")
    desk.sync()
    calls, sequence = spy.calls, desk.index.snapshot().stats.sequence
    report = desk.sync()
    assert (report.added, report.changed, report.removed, report.unchanged) == ((), (), (), 1)
    assert not report.is_changed
    assert spy.calls == calls
    assert desk.index.snapshot().stats.sequence == sequence


def test_an_edit_embeds_only_what_changed(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "one\n\ntwo\n\nthree")
    desk.sync()
    spy.texts.clear()
    desk.write("a.md", "one\n\n2\n\nthree")
    report = desk.sync()
    assert report.changed == ("a.md",)
    assert spy.texts == ["2"]
    assert (report.embedded, report.reused) == (1, 3)
    assert_as_fresh(desk)


def test_an_edit_of_equal_length_with_its_time_set_back_is_found(desk: Desk) -> None:
    path = desk.write("a.md", "alpha")
    desk.sync()
    status = path.stat()
    path.write_text("gamma")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert desk.sync().changed == ("a.md",)


def test_verifying_finds_content_that_no_stamp_tells(desk: Desk) -> None:
    path = desk.write("a.md", "alpha")
    desk.sync()
    path.write_text("gamma")
    desk.restamp("a.md", stamp_of(path.stat()))  # as if the file system told no difference
    assert desk.sync().changed == ()
    assert desk.sync(verify=True).changed == ("a.md",)


def test_a_touched_file_is_unchanged_and_is_not_read_a_third_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.write("a.md", "alpha")
    desk.sync()
    os.utime(path, (1, 1))
    report = desk.sync()
    assert (report.changed, report.unchanged) == ((), 1)
    assert_as_fresh(desk)
    monkeypatch.setattr(cardfiles, "read_file", None)
    assert desk.sync().unchanged == 1


def test_a_file_written_just_before_it_was_read_is_read_again(desk: Desk) -> None:
    path = desk.write("a.md", "alpha")
    desk.now_ns = lambda: path.stat().st_ctime_ns
    desk.sync()
    [card] = desk.index.snapshot().cards
    assert card.stamp != stamp_of(path.stat())
    desk.now_ns = later_ns
    assert desk.sync().unchanged == 1
    [card] = desk.index.snapshot().cards
    assert card.stamp == stamp_of(path.stat())


def test_a_metadata_edit_counts_though_the_body_is_the_same(desk: Desk) -> None:
    desk.write("a.md", "---\ntags: [x]\n---\nbody")
    desk.sync()
    desk.write("a.md", "---\ntags: [x, new]\n---\nbody")
    desk.sync()
    [found] = desk.index.snapshot().cards
    assert found.tags == ("x", "new")


def test_a_deleted_card_leaves_every_part_of_the_index(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "alpha shared words")
    desk.write("b.md", "beta shared words")
    desk.sync()
    (desk.root / "a.md").unlink()
    report = desk.sync()
    assert report.removed == ("a.md",)
    snapshot = desk.index.snapshot()
    near = snapshot.semantic(spy.embed_query("alpha shared words"), Filter(), 1)
    assert [stored.card for stored in snapshot.chunks(near.chunks.tolist())] == ["b.md"]
    assert_as_fresh(desk)


def test_a_moved_card_keeps_its_vectors(desk: Desk, spy: SpyEmbedder) -> None:
    desk.scan = ScanOptions(recursive=True)
    desk.write("a.md", "# Title\n\nalpha\n\nbeta")
    desk.sync()
    spy.texts.clear()
    (desk.root / "folder").mkdir()
    (desk.root / "a.md").rename(desk.root / "folder" / "b.md")
    report = desk.sync()
    assert report.moved == (("a.md", "folder/b.md"),)
    assert (report.added, report.removed, spy.texts, report.reused) == ((), (), [], 4)
    assert_as_fresh(desk)


def test_a_rename_in_case_only_is_a_move(desk: Desk) -> None:
    desk.write("A.md", "alpha")
    desk.sync()
    (desk.root / "A.md").rename(desk.root / "a.md")
    assert desk.sync().moved == (("A.md", "a.md"),)


def test_an_unrelated_file_on_a_reused_inode_is_no_move(desk: Desk) -> None:
    old = desk.write("a.md", "alpha")
    os.utime(old, (1, 1))
    desk.sync()
    old.unlink()
    new = desk.write("b.md", "gamma")
    os.utime(new, (1, 1))
    report = desk.sync()
    assert (report.moved, report.added, report.removed) == ((), ("b.md",), ("a.md",))


def test_a_backup_rename_save_keeps_the_card(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("n.md", "one\n\ntwo")
    desk.sync()
    (desk.root / "n.md").rename(desk.root / "n.md~")
    desk.write("n.md", "one\n\nthree")
    report = desk.sync()
    assert (report.changed, report.added, report.removed) == (("n.md",), (), ())
    (desk.root / "n.md~").unlink()
    assert desk.sync().unchanged == 1


def test_a_replaced_file_is_changed_and_its_temporary_file_is_no_card(desk: Desk) -> None:
    desk.write("n.md", "one")
    desk.sync()
    desk.write("n.tmp", "two").replace(desk.root / "n.md")
    assert desk.sync().changed == ("n.md",)
    assert desk.ids == ["n.md"]


def test_truncate_and_refill_keeps_the_card_all_along(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("n.md", "---\ntitle: Kept\n---\nold text")
    desk.sync()
    desk.write("n.md", "")
    assert desk.sync().removed == ()
    assert desk.ids == ["n.md"]
    desk.write("n.md", "new text")
    assert desk.sync().changed == ("n.md",)
    assert_as_fresh(desk)


@pytest.mark.parametrize("text", ["", "   \n\n  ", "---\ntitle: Only frontmatter\n---\n"])
def test_cards_without_text_are_listed_and_never_embedded_as_nothing(desk: Desk, spy: SpyEmbedder, text: str) -> None:
    desk.write("bare.md", text)
    assert desk.sync().added == ("bare.md",)
    assert desk.ids == ["bare.md"]
    assert all(embedded.strip() for embedded in spy.texts)


def test_equal_paragraphs_are_embedded_once_and_survive_each_other(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "# A\n\nshared words\n\nshared words")
    desk.write("b.md", "# B\n\nshared words")
    desk.sync()
    assert spy.texts.count("shared words") == 1
    (desk.root / "a.md").unlink()
    desk.sync()
    snapshot = desk.index.snapshot()
    near = snapshot.semantic(spy.embed_query("shared words"), Filter(), 1)
    assert snapshot.chunks(near.chunks.tolist())[0].card == "b.md"
    assert_as_fresh(desk)


def test_a_newly_ignored_card_leaves_the_index(desk: Desk) -> None:
    desk.write("a.md", "alpha")
    desk.write("b.md", "beta")
    desk.sync()
    desk.write(".cogvaultignore", "a.md\n")
    assert desk.sync().removed == ("a.md",)


def test_indexing_writes_nothing_into_the_vault(desk: Desk, spy: SpyEmbedder) -> None:
    desk.scan = ScanOptions(recursive=True)
    desk.write("a.md", "---\ntitle: x\n---\nalpha")
    desk.write("d/b.md", "beta")
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in desk.root.rglob("*")}
    desk.sync()
    desk.sync(verify=True)
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in desk.root.rglob("*")} == before


def test_a_vault_that_cannot_be_written_is_indexed(plain_user_vault: Path) -> None:
    (plain_user_vault / "a.md").write_text("alpha")
    plain_user_vault.chmod(0o555)
    desk = Desk(plain_user_vault)
    assert desk.sync().added == ("a.md",)


def test_a_vanished_root_is_refused_and_the_index_stays(desk: Desk) -> None:
    desk.write("a.md", "alpha")
    desk.sync()
    desk.root.rename(desk.root.with_name("away"))
    with pytest.raises(VaultError):
        desk.sync()
    assert desk.ids == ["a.md"]


def test_an_unreadable_file_keeps_its_old_row_and_is_named(plain_user_vault: Path) -> None:
    desk = Desk(plain_user_vault)
    path = desk.write("a.md", "alpha")
    desk.write("b.md", "beta")
    desk.sync()
    desk.write("a.md", "changed")
    desk.write("b.md", "changed too")
    desk.write("c.md", "new").chmod(0)
    path.chmod(0)
    report = desk.sync()
    assert [(problem.path, problem.code) for problem in report.failed] == [
        ("a.md", "unreadable"),
        ("c.md", "unreadable"),
    ]
    assert report.status is Status.DEGRADED
    assert "2 files" in report.reason
    assert (report.added, report.changed) == ((), ("b.md",))
    assert [item.chunk.text for item in desk.index.snapshot().of_card("a.md")] == ["a", "alpha"]
    path.chmod(0o600)
    assert desk.sync().changed == ("a.md",)


def test_an_unreadable_folder_keeps_its_old_rows(plain_user_vault: Path) -> None:
    desk = Desk(plain_user_vault, scan=ScanOptions(recursive=True))
    desk.write("a.md", "alpha")
    desk.write("shut/b.md", "beta")
    desk.sync()
    (desk.root / "shut").chmod(0)
    report = desk.sync()
    assert desk.ids == ["a.md", "shut/b.md"]
    assert report.removed == ()
    assert [(problem.path, problem.code) for problem in report.failed] == [("shut/", "unreadable")]
    assert "1 files or folders" in report.reason
    assert report.problems == ()
    (desk.root / "shut").chmod(0o700)
    assert desk.sync().failed == ()


def test_one_card_that_cannot_be_parsed_does_not_stop_the_others(desk: Desk) -> None:
    class Breaking:
        version = "breaking"

        def parse(self, data: bytes, *, id: str, path: str) -> Card:
            if b"bad" in data:
                raise RecursionError("too deep")
            return Card(id, path, id, data.decode())

    desk.parser = Breaking()
    for name in "abc":
        desk.write(f"{name}.md", "bad" if name == "b" else "good")
    report = desk.sync()
    assert report.added == ("a.md", "c.md")
    assert [(problem.path, problem.code) for problem in report.failed] == [("b.md", "parse-failed")]
    assert "too deep" in report.failed[0].message


def test_a_file_that_vanishes_between_scan_and_read_is_no_failure(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("a.md", "alpha")
    desk.write("b.md", "beta")

    def vanish(path: Path, max_bytes: int, now_ns: Callable[[], int]) -> FileBytes:
        if path.name == "a.md":
            path.unlink()
        return read_file(path, max_bytes, now_ns)

    monkeypatch.setattr(cardfiles, "read_file", vanish)
    report = desk.sync()
    assert (report.added, report.failed) == (("b.md",), ())


def test_a_file_over_the_cap_is_cut_and_reported(desk: Desk) -> None:
    desk.max_card_bytes = 64
    desk.write("big.md", "alpha " * 10 + "é" * 50 + " omega")
    desk.write("small.md", "beta")
    report = desk.sync()
    assert [(problem.path, problem.code) for problem in report.problems] == [("big.md", "oversize")]
    texts = [item.chunk.text for item in desk.index.snapshot().of_card("big.md")]
    assert any("alpha" in text for text in texts)
    assert not any("omega" in text for text in texts)
    assert [problem.code for problem in desk.index.snapshot().cards[0].problems] == ["oversize"]


def test_hostile_files_do_not_keep_others_out(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("good.md", "alpha")
    hostile = {
        "latin.md": b"caf\xf3 latin",
        "utf16.md": "wide text".encode("utf-16-le"),
        "zero.md": b"a\x00b",
        "bomb.md": b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n---\nbody",
        "deep.md": b"---\n" + b"[" * 3000 + b"\n---\nbody",
        "surrogate.md": b'---\ntitle: "\\ud800"\n---\nbody',
        "bytes.md": bytes(range(256)),
    }
    for name, data in hostile.items():
        (desk.root / name).write_bytes(data)
    report = desk.sync()
    assert report.failed == ()
    assert desk.ids == sorted(["good.md", *hostile])
    json.dumps(report.to_dict()).encode()


def test_one_name_in_two_normal_forms_is_two_cards(desk: Desk) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Café.md") for form in ("NFC", "NFD"))
    desk.write(decomposed, "alpha")
    assert desk.sync().added == (composed,)
    desk.write(composed, "beta")
    report = desk.sync()
    assert desk.ids == sorted([composed, decomposed])
    assert report.failed == ()
    assert_as_fresh(desk)


def test_another_way_of_chunking_puts_all_cards_again_and_keeps_equal_vectors(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "alpha\n\nbeta")
    desk.write("b.md", "gamma")
    desk.sync()
    spy.texts.clear()
    desk.chunker = Chunker("heads-only", "any", lambda card: paragraphs(card)[:1])
    report = desk.sync(paths=["a.md"])
    assert (report.changed, report.refreshed, report.unchanged) == ((), 2, 2)
    assert spy.texts == []
    assert desk.index.snapshot().stats.chunks == 2
    assert_as_fresh(desk)
    assert desk.sync().refreshed == 0


def test_a_rebuild_that_was_cut_short_is_done_again(desk: Desk) -> None:
    desk.card_batch = 1
    desk.write("a.md", "alpha")
    desk.write("b.md", "beta")
    desk.sync()
    desk.chunker = Chunker("again", "any", paragraphs)
    with pytest.raises(InterruptedError):
        desk.sync(progress=_stop_at("keyword", 1))
    assert desk.sync().refreshed == 2


def test_a_first_sync_that_was_cut_short_goes_on(desk: Desk, spy: SpyEmbedder) -> None:
    desk.card_batch = 2
    desk.vector_batch = 2
    for name in "abcdef":
        desk.write(f"{name}.md", f"# {name}\n\ntext of {name}")
    with pytest.raises(InterruptedError):
        desk.sync(progress=_stop_at("keyword", 2))
    assert len(desk.ids) == 2
    with pytest.raises(InterruptedError):
        desk.sync(progress=_stop_at("vectors", 4))
    report = desk.sync()
    assert (report.added, report.refreshed) == ((), 0)
    assert sorted(spy.texts) == sorted(set(spy.texts))
    assert_as_fresh(desk)


def _stop_at(stage: str, done: int) -> Progress:
    def progress(step: SyncProgress) -> None:
        if step.stage == stage and step.done >= done:
            raise InterruptedError

    return progress


def test_progress_is_told_stage_by_stage(desk: Desk, spy: SpyEmbedder) -> None:
    for name in "abc":
        desk.write(f"{name}.md", name)
    steps: list[SyncProgress] = []
    desk.sync(progress=steps.append)
    assert [(step.stage, step.done, step.total) for step in steps] == [
        ("scan", 3, 3),
        ("keyword", 0, 3),
        ("keyword", 3, 3),
        ("vectors", 0, 6),
        ("vectors", 6, 6),
    ]


def test_hinted_paths_are_synced_and_others_left_for_later(desk: Desk) -> None:
    desk.scan = ScanOptions(recursive=True)
    for path in ("x/a.md", "x/gone.md", "y/b.md", "y/gone.md"):
        desk.write(path, f"text of {path}")
    desk.sync()
    for path in ("x/a.md", "y/b.md"):
        desk.write(path, "changed")
    for path in ("x/gone.md", "y/gone.md"):
        (desk.root / path).unlink()
    report = desk.sync(paths=[desk.root / "x/a.md", desk.root / "x/gone.md"])
    assert (report.changed, report.removed, report.unchanged) == (("x/a.md",), ("x/gone.md",), 2)
    report = desk.sync()
    assert (report.changed, report.removed) == (("y/b.md",), ("y/gone.md",))


def test_a_hinted_card_is_synced_without_a_look_at_its_folder(desk: Desk) -> None:
    for path in ("a.md", "b.md", "c.md"):
        desk.write(path, "before")
    desk.sync()
    for path in ("a.md", "b.md", "new.md"):
        desk.write(path, "changed")
    report = desk.sync(paths=[desk.root / "a.md", "new.md"])
    assert (report.changed, report.added, report.unchanged) == (("a.md",), ("new.md",), 2)
    assert desk.sync().changed == ("b.md",)


def test_a_look_at_some_paths_does_not_end_a_first_sync_that_was_killed(desk: Desk) -> None:
    desk.card_batch = 1
    for path in ("a.md", "b.md", "c.md"):
        desk.write(path, "text")

    def killed(told: SyncProgress) -> None:
        if told.stage == "keyword" and desk.ids:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.sync(progress=killed)
    last = LastSync(desk.lock_folder)
    assert (0 < len(desk.ids) < 3, last.at()) == (True, None)
    desk.write(desk.ids[0], "changed")
    assert desk.sync(paths=[desk.ids[0]]).changed
    assert last.at() is None
    desk.sync()
    assert (desk.ids, last.root()) == (["a.md", "b.md", "c.md"], root_id(desk.root))
    os.utime(desk.lock_folder / "last-sync", (0, 0))
    desk.sync(paths=["a.md"])
    at = last.at()
    assert at is not None
    assert at.year > 1970


def test_a_sync_that_finds_another_at_work_says_stale(desk: Desk) -> None:
    desk.write("a.md", "alpha")
    with FileLock(desk.lock_folder / "sync.lock"):
        report = desk.sync(timeout_seconds=0.0)
    assert report.status is Status.STALE
    assert report.reason
    assert desk.ids == []
    assert desk.sync().added == ("a.md",)


def test_who_cannot_wait_waits_for_nobody_while_nothing_has_to_be_written(desk: Desk) -> None:
    desk.keyword_only = True
    desk.write("a.md", "alpha")
    desk.sync()
    with FileLock(desk.lock_folder / "sync.lock"):
        report = desk.sync(timeout_seconds=0.0)
        assert (report.status, report.unchanged) == (Status.OK, 1)
        desk.write("b.md", "beta")
        assert desk.sync(timeout_seconds=0.0).status is Status.STALE
    assert desk.sync(timeout_seconds=0.0).added == ("b.md",)


@pytest.mark.parametrize("paths", [None, ["b.md"]])
def test_who_waits_for_another_sync_goes_on_as_soon_as_one_has_done_its_work(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, paths: list[str] | None
) -> None:
    desk.keyword_only = True
    desk.write("b.md", "beta")
    looked = threading.Event()

    def look(*arguments: object) -> ScanResult:
        result = scan(*arguments)  # type: ignore[arg-type]
        looked.set()
        return result

    monkeypatch.setattr("cogvault.indexing.sync.scan", look)
    with FileLock(desk.lock_folder / "sync.lock"), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(desk.sync, paths=paths, timeout_seconds=60.0)
        looked.wait()
        other = desk.root.with_name("locks of another")
        options = SyncOptions(other)
        Syncer(desk.root, desk.index, desk.parser, None, options, chunker=desk.chunker, now_ns=later_ns).sync()
        report = waiting.result()
    assert (report.status, report.unchanged) == (Status.OK, 1)


@pytest.mark.parametrize("paths", [None, ["b.md"]])
def test_who_cannot_wait_looks_again_only_when_somebody_wrote_meanwhile(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, paths: list[str] | None
) -> None:
    desk.keyword_only = True
    desk.write("a.md", "alpha")
    desk.sync()
    looks: list[int] = []
    others: list[str] = []

    def look(*arguments: object) -> ScanResult:
        looks.append(1)
        result = scan(*arguments)
        if others:
            desk.write(others.pop(), "by another")
            Desk(desk.root, index=desk.index, keyword_only=True).sync()
        return result

    monkeypatch.setattr("cogvault.indexing.sync.scan", look)
    desk.write("b.md", "beta")
    assert (desk.sync(paths=paths, timeout_seconds=5.0).added, len(looks)) == (("b.md",), 1)
    desk.write("b.md", "beta again")
    others.append("c.md")
    report = desk.sync(paths=paths, timeout_seconds=5.0)
    assert (report.added, report.changed) == ((), ()), "the other one did it"
    assert len(looks) == 4, "the two of this one, and the other one's"
    assert desk.ids == ["a.md", "b.md", "c.md"]


def test_who_cannot_wait_gives_up_in_time_though_others_write_without_a_pause(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def look(*arguments: object) -> ScanResult:
        looks.append(1)
        return scan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("cogvault.indexing.sync.scan", look)
    monkeypatch.setattr(Syncer, "_is_outdated", lambda syncer, look: len(looks) < 50)
    desk.write("a.md", "alpha")
    with FileLock(desk.lock_folder / "sync.lock"):
        assert desk.sync(timeout_seconds=0.0).status is Status.STALE
    assert len(looks) == 2


def test_edits_become_searchable_while_another_process_embeds(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "alpha")
    with FileLock(desk.lock_folder / "vectors.lock"):
        report = desk.sync(timeout_seconds=0.0)
    assert report.added == ("a.md",)
    assert (report.status, report.pending_vectors, spy.calls) == (Status.DEGRADED, 2, 0)
    assert desk.sync().embedded == 2


def test_threads_that_sync_at_once_embed_each_chunk_once(desk: Desk, spy: SpyEmbedder) -> None:
    for number in range(40):
        desk.write(f"{number}.md", f"# {number}\n\nunique {number}")
    reports: list[SyncReport] = []
    threads = [threading.Thread(target=lambda: reports.append(desk.sync())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(report.added) for report in reports) == [0, 0, 0, 40]
    assert sum(report.embedded for report in reports) == 120
    assert sorted(spy.texts) == sorted(set(spy.texts))
    assert_as_fresh(desk)


class TestModel:
    def test_without_a_model_the_sync_is_keyword_only_and_says_so(self, desk: Desk) -> None:
        desk.write("a.md", "alpha")
        report = desk.sync()
        assert (report.status, report.added, report.pending_vectors) == (Status.DEGRADED, ("a.md",), 2)
        assert "keyword" in report.reason
        assert report.hint

    def test_a_model_that_is_not_here_is_used_by_the_next_sync(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "alpha")
        spy.error = unavailable()
        report = desk.sync()
        assert (report.status, report.added, report.pending_vectors) == (Status.DEGRADED, ("a.md",), 2)
        assert "no such model here" in report.reason
        assert report.hint == "install it"
        spy.error = None
        report = desk.sync()
        assert (report.status, report.embedded, report.pending_vectors) == (Status.OK, 2, 0)
        assert_as_fresh(desk)

    @pytest.mark.parametrize("error", [ModelError("damaged"), RuntimeError("damaged"), MemoryError("damaged")])
    def test_a_broken_model_is_tried_twice_not_chunk_by_chunk(
        self, desk: Desk, spy: SpyEmbedder, error: Exception
    ) -> None:
        desk.write("a.md", "\n\n".join(f"text {number}" for number in range(50)))
        spy.error = error
        report = desk.sync()
        assert report.status is Status.DEGRADED
        assert "damaged" in report.reason
        assert spy.calls == 2

    def test_a_model_that_cannot_even_be_named_degrades_the_sync(self, desk: Desk) -> None:
        class Nameless(SpyEmbedder):
            @property
            def fingerprint(self) -> str:
                raise unavailable()

            @fingerprint.setter
            def fingerprint(self, value: str) -> None:
                pass

        desk.embedder = Nameless()
        desk.write("a.md", "alpha")
        report = desk.sync()
        assert (report.status, report.added, report.pending_vectors) == (Status.DEGRADED, ("a.md",), 2)

    def test_a_chunk_that_cannot_be_embedded_does_not_stop_the_others(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "\n\n".join(f"text {number}" for number in range(20)))
        desk.write("b.md", "text of b")
        spy.poison = {"text 7", "text 8"}
        report = desk.sync()
        assert (report.status, report.embedded, report.pending_vectors) == (Status.DEGRADED, 21, 2)
        assert [(problem.path, problem.code, problem.line) for problem in report.failed] == [
            ("a.md", "embedding-failed", 15),
            ("a.md", "embedding-failed", 17),
        ]
        assert desk.index.snapshot().stats.vectors == 21
        spy.poison = set()
        report = desk.sync()
        assert (report.status, report.embedded) == (Status.OK, 2)
        assert_as_fresh(desk)

    def test_bad_chunks_never_block_those_behind_them(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.vector_batch = 2
        texts = [f"text {number}" for number in range(9)]
        desk.write("a.md", "\n\n".join(texts))
        spy.poison = {"a", *texts[:5]}
        report = desk.sync()
        assert (report.embedded, report.pending_vectors) == (4, 6)

    def test_numbers_that_are_not_finite_are_refused(self, desk: Desk, spy: SpyEmbedder) -> None:
        class Nan(SpyEmbedder):
            def embed_documents(self, texts: Sequence[str]) -> FloatArray:
                rows = super().embed_documents(texts)
                rows[[text == "bad" for text in texts]] = float("nan")
                return rows

        desk.embedder = Nan()
        desk.write("a.md", "good\n\nbad")
        report = desk.sync()
        assert (report.embedded, report.pending_vectors) == (2, 1)
        assert [problem.line for problem in report.failed] == [3]

    def test_rows_of_another_width_are_refused(self, desk: Desk) -> None:
        embedder = SpyEmbedder(dim=16)
        embedder.dim = 8
        desk.embedder = embedder
        desk.write("a.md", "alpha")
        report = desk.sync()
        assert report.status is Status.DEGRADED
        assert "shape" in report.reason
        assert desk.index.snapshot().stats.vectors == 0

    def test_a_limit_embeds_so_many_and_the_rest_later(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "\n\n".join(f"text {number}" for number in range(9)))
        assert desk.sync(embed_limit=0).embedded == 0
        assert spy.calls == 0
        report = desk.sync(embed_limit=4)
        assert (report.embedded, report.pending_vectors) == (4, 6)
        assert desk.sync().embedded == 6

    def test_newest_cards_are_embedded_first(self, desk: Desk, spy: SpyEmbedder) -> None:
        for year in (2020, 2024, 2022):
            desk.write(f"{year}.md", f"---\ndate: {year}-01-01\n---\n")
        desk.sync()
        assert spy.texts == ["2024", "2022", "2020"]

    def test_the_first_model_serves_from_its_first_batch_on(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.vector_batch = 1
        desk.write("a.md", "alpha\n\nbeta")
        with pytest.raises(InterruptedError):
            desk.sync(progress=_stop_at("vectors", 1))
        stats = desk.index.snapshot().stats
        assert (stats.identity.model, stats.identity.model_name, stats.identity.dim) == ("spy/16", "spy", 16)
        assert stats.vectors == 1

    @pytest.mark.parametrize("dim", [16, 8])
    def test_another_model_serves_once_it_is_complete(self, desk: Desk, spy: SpyEmbedder, dim: int) -> None:
        desk.write("a.md", "alpha\n\nbeta")
        desk.sync()
        desk.vector_batch = 1
        desk.embedder = other = SpyEmbedder("other", dim)
        with pytest.raises(InterruptedError):
            desk.sync(progress=_stop_at("vectors", 2))
        stats = desk.index.snapshot().stats
        assert (stats.identity.model, stats.vectors) == ("spy/16", 3)
        report = desk.sync()
        assert (report.embedded, report.pending_vectors) == (1, 0)
        stats = desk.index.snapshot().stats
        assert (stats.identity.model, stats.identity.dim, stats.vectors) == (other.fingerprint, dim, 3)
        assert_as_fresh(desk)

    def test_a_switch_that_was_cut_before_its_last_step_is_finished(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "alpha")
        desk.sync()
        desk.embedder = SpyEmbedder("other")
        with pytest.raises(InterruptedError):
            desk.sync(progress=_stop_at("vectors", 1))
        assert desk.index.snapshot().stats.identity.model == "spy/16"
        assert desk.sync().embedded == 0
        assert desk.index.snapshot().stats.identity.model == "other/16"

    def test_a_switch_waits_for_a_model_that_cannot_tell_its_width_now(self, desk: Desk, spy: SpyEmbedder) -> None:
        class Remote(SpyEmbedder):
            is_up = True

            @property
            def dim(self) -> int:
                if not self.is_up:
                    raise unavailable()
                return 16

            @dim.setter
            def dim(self, value: int) -> None:
                pass

        desk.write("a.md", "alpha")
        desk.sync()
        desk.embedder = remote = Remote("remote")
        with pytest.raises(InterruptedError):
            desk.sync(progress=_stop_at("vectors", 1))
        remote.is_up = False
        assert desk.sync().status is Status.DEGRADED
        assert desk.index.snapshot().stats.identity.model == "spy/16"
        remote.is_up = True
        assert desk.sync().status is Status.OK
        assert desk.index.snapshot().stats.identity.model == "remote/16"

    def test_a_new_model_that_does_not_work_drops_nothing(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "alpha")
        desk.sync()
        before = desk.index.snapshot().stats
        desk.embedder = broken = SpyEmbedder("other")
        broken.error = ModelError("damaged")
        report = desk.sync()
        assert report.status is Status.DEGRADED
        after = desk.index.snapshot().stats
        assert (after.identity, after.vectors) == (before.identity, before.vectors)

    def test_a_switch_is_not_held_up_by_a_bad_chunk(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "alpha\n\nbeta")
        desk.sync()
        desk.embedder = other = SpyEmbedder("other")
        other.poison = {"beta"}
        report = desk.sync()
        assert (report.embedded, report.pending_vectors) == (2, 1)
        assert desk.index.snapshot().stats.identity.model == "other/16"

    def test_an_edit_is_embedded_by_the_model_in_use(self, desk: Desk, spy: SpyEmbedder) -> None:
        desk.write("a.md", "alpha")
        desk.sync()
        desk.embedder = None
        desk.write("a.md", "beta")
        report = desk.sync()
        assert (report.status, report.pending_vectors) == (Status.DEGRADED, 1)
        desk.embedder = spy
        assert desk.sync().embedded == 1
        assert_as_fresh(desk)


def test_a_report_tells_people_and_programs_the_same(desk: Desk, spy: SpyEmbedder) -> None:
    desk.write("a.md", "---\ntitle: [\n---\nalpha")
    report = desk.sync()
    said = str(report)
    assert said.startswith("ok: 1 added, 2 embedded in ")
    assert report.problems
    assert all(f"{problem.path}:{problem.line}: {problem.message}" in said for problem in report.problems)
    document = json.loads(json.dumps(report.to_dict()))
    assert document["status"] == "ok"
    assert document["added"] == ["a.md"]
    assert document["problems"][0]["path"] == "a.md"
    assert document["embedded"] == 2
    assert str(replace(report, status=Status.DEGRADED, reason="why", hint="what")).splitlines()[1] == "why (what)"


def test_a_lock_that_cannot_be_made_is_an_index_fault(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("a.md", "alpha")
    file = desk.root.with_name("file")
    file.touch()
    monkeypatch.setattr(Desk, "lock_folder", file / "locks")
    with pytest.raises(IndexFault) as caught:
        desk.sync()
    assert "sync.lock" in str(caught.value)


class TestExpiredViews:
    """Another process may purge the rows of a view that is being read."""

    def expire(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        plain = MemorySnapshot.pending
        left = [times]

        def pending(self: MemorySnapshot, model: str, limit: int) -> list[StoredChunk]:
            if left[0]:
                left[0] -= 1
                raise SnapshotExpired("rows were purged")
            return plain(self, model, limit)

        monkeypatch.setattr(MemorySnapshot, "pending", pending)

    def test_a_new_view_is_taken(self, desk: Desk, spy: SpyEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
        desk.write("a.md", "alpha")
        self.expire(monkeypatch, 2)
        assert desk.sync().embedded == 2

    def test_giving_up_is_an_error_not_an_empty_result(
        self, desk: Desk, spy: SpyEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        desk.write("a.md", "alpha")
        self.expire(monkeypatch, 1000)
        with pytest.raises(SnapshotExpired):
            desk.sync()
        assert desk.ids == ["a.md"]


def test_a_file_in_the_place_of_a_vault_does_not_make_that_the_vault(desk: Desk, tmp_path: Path) -> None:
    # A program that knows nothing of mounts wrote there, and a watcher told of that file alone.
    desk.write("a.md", "alpha")
    desk.write("b.md", "beta")
    desk.sync()
    desk.root.rename(tmp_path / "mounted")
    desk.root.mkdir()
    desk.write("c.md", "gamma")
    for paths in (["c.md"], None):
        with pytest.raises(VaultError, match="another one than before"):
            desk.sync(paths=paths)
    assert desk.ids == ["a.md", "b.md"]
