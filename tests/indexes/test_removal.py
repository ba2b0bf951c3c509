"""What no card says any more cannot be read from any file of the index."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from cogvault.indexes import LocalIndex
from cogvault.indexes.local import store
from cogvault.testing.records import ALL, embedded, found_cards, identity, record, terms
from cogvault.text.tokens import grams
from cogvault.types import CardRecord, ChangeSet

_CONSONANTS = "bcdfghjkmnpqrstvwxz"
_PLAIN = [f"word{number}" for number in range(900)]


def _secret(rng: random.Random) -> str:
    # Its first five letters are nobody else's.
    return "Q" + "".join(rng.choices(_CONSONANTS, k=13))


def _card(name: str, secret: str, rng: random.Random) -> CardRecord:
    return record(f"{name}.md", " ".join(rng.choices(_PLAIN, k=60)), f"The key is {secret}.", title=f"Key {secret}")


def _forms(secret: str) -> set[bytes]:
    folded = secret.casefold()
    return {secret.encode(), folded.encode(), secret.upper().encode(), folded[:5].encode(), secret[:5].encode()}


def _readable(folder: Path, needles: Iterable[bytes]) -> list[str]:
    """Files that hold one of some byte strings."""
    needles = list(needles)
    return [
        f"{path.relative_to(folder)}: {needle!r}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for content in [path.read_bytes()]
        for needle in needles
        if needle in content
    ]


def _rows(folder: Path, ids: Iterable[str]) -> list[bytes]:
    """What the catalog keeps of some cards' texts and vectors, as it lies in its file."""
    connection = sqlite3.connect(folder / store.CATALOG)
    found: list[bytes] = []
    for id in ids:
        version, chunks = connection.execute(
            "SELECT version, chunks FROM cards WHERE id = ? ORDER BY version DESC", (f"{id}.md",)
        ).fetchone()
        for statement in (
            "SELECT content FROM texts WHERE chunk >= ? AND chunk < ?",
            "SELECT content FROM vectors WHERE version >= ? AND version < ?",
            "SELECT content FROM layers WHERE version >= ? AND version < ?",
        ):
            found.extend(row for (row,) in connection.execute(statement, (version, version + chunks)))
    connection.close()
    return [row for row in found if len(row) > 64]


@pytest.mark.parametrize("seed", range(3))
def test_deleted_and_edited_text_leaves_every_file(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(identity=identity()))
    secrets = {f"card{number}": _secret(rng) for number in range(60)}
    for start in range(0, 60, 20):
        names = list(secrets)[start : start + 20]
        index.apply(ChangeSet(put=tuple(_card(name, secrets[name], rng) for name in names)))
        embedded(index)
    needles: set[bytes] = set()
    assert len(_readable(folder, _forms(secrets["card0"]))) > 0, "the search would find it"
    for _ in range(6):
        gone, changed = (names := rng.sample(sorted(secrets), 4))[:2], names[2:]
        needles.update(*(_forms(secrets.pop(name)) for name in names))
        needles.update(row[16:48] for row in _rows(folder, names))
        secrets.update((name, _secret(rng)) for name in changed)
        put = tuple(_card(name, secrets[name], rng) for name in changed)
        index.apply(ChangeSet(put=put, remove=tuple(f"{name}.md" for name in gone)))
        embedded(index)
        # While it is open, too.
        assert _readable(folder, needles) == []
    name, secret = next(iter(secrets.items()))
    snapshot = index.snapshot()
    assert found_cards(snapshot, snapshot.keyword(terms(secret), ALL, 3))[0] == f"{name}.md"
    del snapshot
    assert index.verify() == []
    index.close()
    assert _readable(folder, needles) == []


def test_the_keyword_folder_never_holds_a_word(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("a.md", "xyzzyplugh 设备清单", title="plughxyzzy"),), identity=identity()))
    words = ["xyzzyplugh", "plughxyzzy", "设备", "清单"]
    pieces = [piece for word in words for piece in (word, word[:5], *grams(word))]
    # Not single letters, which any bytes may hold.
    texts = [piece.encode() for piece in pieces if len(piece.encode()) >= 4]
    for path in folder.glob("keyword-*/*"):
        assert [text for text in texts if text in path.read_bytes()] == []
    index.close()


def test_a_word_that_comes_back_gets_another_number(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path / "index")
    numbers = set()
    for _ in range(3):
        index.apply(ChangeSet(put=(record("a.md", "xyzzyplugh"), record("b.md", "other"))))
        connection = sqlite3.connect(tmp_path / "index" / store.CATALOG)
        numbers.add(connection.execute("SELECT id FROM words WHERE form = 'xyzzyplugh'").fetchone())
        connection.close()
        snapshot = index.snapshot()
        assert found_cards(snapshot, snapshot.keyword(terms("xyzzyplugh"), ALL, 3)) == ["a.md"]
        del snapshot
        index.apply(ChangeSet(remove=("a.md",)))
        snapshot = index.snapshot()
        assert found_cards(snapshot, snapshot.keyword(terms("xyzzyplugh"), ALL, 3)) == []
        del snapshot
    assert len(numbers) == 3
    assert index.verify() == []
    index.close()


def test_damaged_files_that_may_hold_deleted_text_go_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("a.md", "xyzzyplugh"), record("b.md", "other")), identity=identity()))
    index.close()
    (folder / store.CATALOG).write_bytes(b"xyzzyplugh in a damaged file" * 1000)
    index = LocalIndex(folder)
    index.apply(ChangeSet(put=(record("a.md", "xyzzyplugh"), record("b.md", "other")), identity=identity()))
    assert _readable(folder / "damaged", [b"xyzzyplugh"])
    index.apply(ChangeSet(put=(record("a.md", "something else"),)))
    assert _readable(folder, [b"xyzzyplugh"]) == []
    index.close()


def test_holes_are_closed_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_GHOSTS", 50)
    rng = random.Random(1)
    index = LocalIndex(tmp_path / "index")
    index.apply(ChangeSet(identity=identity()))
    index.apply(ChangeSet(put=tuple(_card(f"card{number}", _secret(rng), rng) for number in range(100))))
    embedded(index)
    full = index.snapshot().stats.bytes_on_disk
    # A reader holds the state before; it is not disturbed.
    old = index.snapshot()
    index.apply(ChangeSet(remove=tuple(f"card{number}.md" for number in range(80))))
    assert len(old.cards) == 100
    assert len(old.of_card("card3.md")) == 3
    del old
    index.apply(ChangeSet(remove=("card99.md",)))
    snapshot = index.snapshot()
    assert [card.id for card in snapshot.cards] == [f"card{number}.md" for number in range(80, 99)]
    assert snapshot.stats.bytes_on_disk < full / 2
    assert snapshot.stats.vectors == snapshot.stats.embeddable == 19 * 3
    del snapshot
    assert index.verify() == []
    index.close()
