"""Terms that were asked for before mean what they would mean to an index that is asked for the first time."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import vocabulary
from cogvault.testing.records import ALL, identity, record, terms
from cogvault.testing.stateful import assert_same_evidence
from cogvault.types import ChangeSet

_QUESTIONS = (
    "payment database",
    "payments of the database",
    "deploy POL-358",
    "设备清单 payment",
    "nothing held",
    "pay",
)


def _filled(folder: Path) -> LocalIndex:
    index = LocalIndex(folder)
    index.apply(ChangeSet(identity=identity()))
    return index


@pytest.mark.parametrize("kept_words", [2**18, 0], ids=["kept", "never kept"])
def test_terms_asked_for_before_find_what_they_found_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_words: int
) -> None:
    monkeypatch.setattr(vocabulary, "_KEPT_WORDS", kept_words)
    asked = _filled(tmp_path / "asked")
    changes = [
        ChangeSet(put=(record("a.md", "payment of the database", "deploy payments"), record("b.md", "设备清单 pol"))),
        ChangeSet(put=(record("c.md", "databases are paid for", "payload"), record("a.md", "deployed payment"))),
        ChangeSet(remove=("b.md",)),
        ChangeSet(put=(record("b.md", "the payment deploys POL-358"),)),
    ]
    for done, change in enumerate(changes, 1):
        asked.apply(change)
        for question in _QUESTIONS:
            fresh = LocalIndex(tmp_path / "asked")
            one, other = (index.snapshot() for index in (asked, fresh))
            first, second = (snapshot.keyword(terms(question), ALL, 10) for snapshot in (one, other))
            assert first.chunks.tolist() == second.chunks.tolist(), (done, question)
            assert first.scores.tolist() == second.scores.tolist()
            assert_same_evidence(one, other, question, 1)
            fresh.close()
    asked.close()
