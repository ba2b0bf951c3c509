"""Events in an order that no system should tell, on a real vault: what is on disk decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogvault import Config, Vault
from cogvault.indexing.debounce import Debouncer
from cogvault.indexing.events import Mode, Tell
from cogvault.indexing.watching import Watcher, sync_batch
from tests.watch.conftest import wait_until


class Source:
    """Tells only what a test says."""

    mode: Mode = "events"
    rescan_seconds = 1000.0
    is_complete = True
    tell: Tell

    def start(self, root: Path, recursive: bool, tell: Tell) -> None:
        self.tell = tell

    def stop(self) -> None: ...


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def watcher(vault: Vault, folder: Path, source: Source) -> Iterator[Watcher]:
    (folder / "n.md").write_text("# n\n\nnumbat\n")
    resources = vault._resources  # noqa: SLF001
    hints = Debouncer(quiet_seconds=0.02, longest_seconds=0.2, most=50)
    sync = lambda batch, progress: sync_batch(resources.syncer(), batch, progress)  # noqa: E731
    with Watcher(folder, resources.options.scan, sync, source=source, hints=hints) as watcher:
        wait_until(lambda: watcher.last_report, "first sync")
        yield watcher


def ids(vault: Vault) -> list[str]:
    return [card.id for card in vault.cards()]


def settled(vault: Vault, source: Source, folder: Path, name: str) -> None:
    """Wait until all that was told before has been looked at: a card written now comes after it."""
    (folder / name).write_text("# marker\n")
    source.tell(folder / name)
    wait_until(lambda: name in ids(vault), name)


def test_a_delete_told_late_removes_nothing_that_exists(
    vault: Vault, folder: Path, source: Source, watcher: Watcher
) -> None:
    for _ in range(3):  # a system tells created and deleted by the same path; no call says that a card is gone
        source.tell(folder / "n.md")
    source.tell(folder / "never.md")
    source.tell(folder / "n.md", True)  # as if it had been a folder
    settled(vault, source, folder, "marker.md")
    assert ids(vault) == ["marker.md", "n.md"]


def test_a_creation_told_late_brings_nothing_back(vault: Vault, folder: Path, source: Source, watcher: Watcher) -> None:
    (folder / "n.md").unlink()
    source.tell(folder / "n.md")
    settled(vault, source, folder, "a.md")
    source.tell(folder / "n.md")
    settled(vault, source, folder, "b.md")
    assert ids(vault) == ["a.md", "b.md"]


def test_a_move_of_which_only_one_end_is_told_is_seen_whole_by_the_next_full_look(
    vault: Vault, folder: Path, source: Source, watcher: Watcher
) -> None:
    (folder / "n.md").rename(folder / "m.md")
    source.tell(folder / "m.md")
    wait_until(lambda: "m.md" in ids(vault), "the end that was told")
    source.tell(None)
    wait_until(lambda: ids(vault) == ["m.md"], "the look at everything")


def test_an_overflow_loses_nothing(vault: Vault, folder: Path, source: Source, watcher: Watcher) -> None:
    for number in range(200):
        (folder / f"{number}.md").write_text(f"# {number}\n")
    for number in range(60):  # more than the debouncer keeps; the other 140 are never told
        source.tell(folder / f"{number}.md")
    wait_until(lambda: len(ids(vault)) == 201, "cards whose events were lost")


_step = st.tuples(st.sampled_from(["write", "delete", "replace", "backup"]), st.integers(0, 3))


@settings(max_examples=12)
@given(steps=st.lists(_step, min_size=1, max_size=12), order=st.randoms(use_true_random=False))
def test_whatever_the_order_of_events_the_index_is_the_folder(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], order: object
) -> None:
    base = tmp_path_factory.mktemp("order").resolve()
    folder, source = base / "vault", Source()
    folder.mkdir()
    config = Config(model="none", recursive=True, index_dir=base / "index", cache_dir=base / "cache")
    with Vault(folder, config) as vault:
        resources = vault._resources  # noqa: SLF001
        hints = Debouncer(quiet_seconds=0.005, longest_seconds=0.05)
        sync = lambda batch, progress: sync_batch(resources.syncer(), batch, progress)  # noqa: E731
        with Watcher(folder, resources.options.scan, sync, source=source, hints=hints) as watcher:
            wait_until(lambda: watcher.last_report, "first sync")
            told = []
            for step, number in steps:
                file = folder / f"{number}.md"
                told.append(file)
                if step == "delete":
                    file.unlink(missing_ok=True)
                elif step == "backup" and file.exists():
                    file.rename(folder / f"{number}.md~")
                    told.append(folder / f"{number}.md~")
                elif step == "replace":
                    (folder / "new.tmp").write_text(f"# {number}\n\nreplaced{len(told)}\n")
                    (folder / "new.tmp").replace(file)
                    told.append(folder / "new.tmp")
                else:
                    file.write_text(f"# {number}\n\nwritten{len(told)}\n")
            order.shuffle(told)  # type: ignore[attr-defined]
            for path in told:
                source.tell(path)
            settled(vault, source, folder, "z.md")
            there = {path.name: path.read_text() for path in folder.glob("*.md")}
            assert ids(vault) == sorted(there)
            for id, text in there.items():
                chunks = vault._resources.index().snapshot().of_card(id)  # noqa: SLF001
                assert text.split("\n")[-2] in "\n".join(chunk.chunk.text for chunk in chunks)
