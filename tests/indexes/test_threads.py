"""Threads of one index that meet between two steps of each other."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import index as index_module
from cogvault.indexes.local import schema, store, writer
from cogvault.indexes.local.lexical import Lexical
from cogvault.indexes.local.roster import Roster
from cogvault.testing.records import record
from cogvault.types import ChangeSet

# A thread that does not wait for another ends in less.
_WAIT_SECONDS = 0.5


def test_what_was_read_is_not_dropped_while_another_thread_makes_a_view_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_seen, is_making = threading.Event(), threading.Event()
    dropped: list[bool] = []

    class Watched(Roster):
        def __init__(self) -> None:
            super().__init__()
            dropped.append(is_making.is_set())

        def table(self, *arguments: Any) -> Any:
            if has_seen.is_set():
                is_making.set()
                second.join(_WAIT_SECONDS)
                is_making.clear()
            return super().table(*arguments)

    def copied_over(*arguments: Any) -> bool:
        """The second thread finds another catalog, once."""
        if threading.current_thread() is second and not has_seen.is_set():
            has_seen.set()
            is_making.wait()
            return False
        return schema.comes_from(*arguments)

    monkeypatch.setattr(index_module, "Roster", Watched)
    monkeypatch.setattr(index_module, "comes_from", copied_over)
    index = LocalIndex(tmp_path / "index")
    second = threading.Thread(target=index.snapshot)
    index.apply(ChangeSet(put=(record("a.md", "text"),)))
    index.snapshot()
    index.apply(ChangeSet(put=(record("b.md", "text"),)))
    second.start()
    has_seen.wait()
    assert [card.id for card in index.snapshot().cards] == ["a.md", "b.md"]
    second.join()
    assert dropped
    assert not any(dropped)
    index.close()


def test_a_keyword_folder_that_a_reader_opened_before_changes_takes_no_writers_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_card = LocalIndex(tmp_path / "index")
    with_card.apply(ChangeSet(put=(record("a.md", "text"),)))
    with_card.close()
    index = LocalIndex(tmp_path / "index")
    reader = threading.Thread(target=index.snapshot)
    has_opened, is_between = threading.Event(), threading.Event()
    sequences: list[int] = []
    commit = writer.commit

    class Slow(Lexical):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            if threading.current_thread() is reader:
                has_opened.set()
                is_between.wait(_WAIT_SECONDS)

    def committed(*arguments: Any) -> Any:
        state = commit(*arguments)
        sequences.append(state.sequence)
        if len(sequences) == 2:
            is_between.set()
            reader.join()
        return state

    monkeypatch.setattr(store, "Lexical", Slow)
    monkeypatch.setattr(writer, "commit", committed)
    reader.start()
    has_opened.wait()
    for name in ("b.md", "c.md"):
        index.apply(ChangeSet(put=(record(name, "text"),)))
    reader.join()
    assert [card.id for card in index.snapshot().cards] == ["a.md", "b.md", "c.md"]
    assert index.snapshot().stats.notes == ()
    index.close()
