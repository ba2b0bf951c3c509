from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cogvault.embedders import CachedEmbedder, HashingEmbedder
from cogvault.errors import ModelError
from cogvault.types import FloatArray


class Counting(HashingEmbedder):
    """Hashing that remembers what it was asked to embed."""

    __slots__ = ("asked",)

    def __init__(self, dim: int = 64, seed: int = 0) -> None:
        super().__init__(dim, seed)
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        self.asked.extend(texts)
        return super().embed_documents(texts)


@pytest.fixture
def inner() -> Counting:
    return Counting()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


def count_rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_a_text_is_embedded_once_and_comes_back_to_the_bit(inner: Counting, file: Path) -> None:
    missed = CachedEmbedder(inner, file).embed_documents(["one", "two"])
    hit = CachedEmbedder(inner, file).embed_documents(["two", "three", "one"])
    assert inner.asked == ["one", "two", "three"]
    np.testing.assert_array_equal(hit[[2, 0]], missed)
    np.testing.assert_array_equal(missed, HashingEmbedder(64).embed_documents(["one", "two"]))


def test_equal_texts_of_one_call_are_embedded_once(inner: Counting, file: Path) -> None:
    rows = CachedEmbedder(inner, file).embed_documents(["same", "same", "", "same"])
    assert inner.asked == ["same"]
    np.testing.assert_array_equal(rows[0], rows[3])
    assert not rows[2].any()


def test_models_do_not_share_vectors(file: Path) -> None:
    one, other, wider = Counting(seed=1), Counting(seed=2), Counting(dim=32)
    for embedder in (one, other, wider):
        CachedEmbedder(embedder, file).embed_documents(["text"])
    assert one.asked == other.asked == wider.asked == ["text"]


def test_queries_are_not_written_down(inner: Counting, file: Path) -> None:
    CachedEmbedder(inner, file).embed_query("a private question")
    assert not file.exists()


def test_it_looks_like_the_embedder_inside(inner: Counting, file: Path) -> None:
    cached = CachedEmbedder(inner, file)
    for name in ("name", "floor", "ceiling", "fingerprint", "dim", "max_tokens"):
        assert getattr(cached, name) == getattr(inner, name)
    assert cached.count_tokens(["two words"]) == [2]
    assert cached.inner is inner


def test_forgotten_texts_leave_the_file(inner: Counting, file: Path) -> None:
    cached = CachedEmbedder(inner, file)
    secret, kept = cached.embed_documents(["secret", "kept"])
    cached.kept.forget(inner.fingerprint, ["secret", "never seen"])
    content = b"".join(part.read_bytes() for part in file.parent.iterdir())
    assert secret.tobytes() not in content
    assert kept.tobytes() in content
    cached.embed_documents(["secret", "kept"])
    assert inner.asked == ["secret", "kept", "secret"]


def test_cards_own_what_is_embedded_after_a_prune(inner: Counting, file: Path) -> None:
    cached = CachedEmbedder(inner, file, max_bytes=200_000)
    cached.kept.own(inner.fingerprint, [("a.md", "first"), ("a.md", "second"), ("b.md", "third")])
    for start in range(0, 1_000, 100):
        cached.embed_documents([f"text {number}" for number in range(start, start + 100)])
    assert count_rows(file) < 1_000
    cached.embed_documents(["first", "second", "third"])
    cached.kept.forget_cards(["a.md"])
    inner.asked.clear()
    cached.embed_documents(["first", "second", "third"])
    assert inner.asked == ["first", "second"]


def test_a_prune_drops_the_owners_of_what_it_drops(inner: Counting, file: Path) -> None:
    cached = CachedEmbedder(inner, file, max_bytes=200_000)
    for start in range(0, 1_000, 100):
        texts = [f"text {number}" for number in range(start, start + 100)]
        cached.kept.own(inner.fingerprint, [("a.md", text) for text in texts])
        cached.embed_documents(texts)
    with closing(sqlite3.connect(file)) as connection:
        owned = {key for (key,) in connection.execute("SELECT key FROM owners")}
        assert owned == {key for (key,) in connection.execute("SELECT key FROM vectors")}
    assert len(owned) < 1_000


def test_forgetting_makes_no_file(inner: Counting, file: Path) -> None:
    CachedEmbedder(inner, file).kept.forget(inner.fingerprint, ["text"])
    assert not file.exists()


def test_the_file_is_bounded_and_keeps_what_was_used_last(inner: Counting, file: Path) -> None:
    cached = CachedEmbedder(inner, file, max_bytes=200_000)
    for start in range(0, 3_000, 100):
        cached.embed_documents([f"text {number}" for number in range(start, start + 100)])
        cached.embed_documents(["text 0"])
    assert file.stat().st_size < 400_000
    assert 100 < count_rows(file) < 1_000
    inner.asked.clear()
    cached.embed_documents(["text 2999", "text 1"])
    assert inner.asked == ["text 1"]


def test_use_keeps_an_old_vector(inner: Counting, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.embedders.vector_store._USE_RESOLUTION", 10)
    cached = CachedEmbedder(inner, file, max_bytes=200_000)
    for start in range(0, 2_000, 100):
        cached.embed_documents([f"text {number}" for number in range(start, start + 100)])
        cached.embed_documents(["text 0"])
    assert inner.asked.count("text 0") == 1


def zero_a_page(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192 : 8192 + 20_000] = bytes(20_000)
    file.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda file: file.write_text("this is text, long enough to be no header " * 400), id="text"),
        pytest.param(zero_a_page, id="zeros"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes()[:10_000]), id="truncated"),
    ],
)
def test_a_damaged_file_is_set_aside_and_begun_anew(
    damage: Callable[[Path], object], inner: Counting, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [f"text {number}" for number in range(200)]
    expected = CachedEmbedder(inner, file).embed_documents(texts)
    damage(file)
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(CachedEmbedder(inner, file).embed_documents(texts), expected)
    assert file.with_name("vectors.sqlite.damaged").exists()
    assert str(file) in caplog.text
    inner.asked.clear()
    CachedEmbedder(inner, file).embed_documents(texts)
    assert inner.asked == []


@pytest.mark.parametrize("value", [b"", b"short", np.full(64, np.nan, "<f4").tobytes(), bytes(256)])
def test_a_vector_that_cannot_be_right_is_made_again(value: bytes, inner: Counting, file: Path) -> None:
    cached = CachedEmbedder(inner, file)
    expected = cached.embed_documents(["text"])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE vectors SET value = ?", (value,))
    np.testing.assert_array_equal(cached.embed_documents(["text"]), expected)
    assert inner.asked == ["text", "text"]


def test_a_place_that_cannot_be_used_is_worked_around_and_said_once(
    inner: Counting, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    cached = CachedEmbedder(inner, tmp_path / "file" / "vectors.sqlite")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert cached.embed_documents(["text"]).any()
    assert caplog.text.count("going on without it") == 1


def test_a_full_disk_is_worked_around(
    inner: Counting, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    CachedEmbedder(inner, file).embed_documents(["first"])

    def fail(connection: sqlite3.Connection) -> int:
        connection.execute("PRAGMA max_page_count = 1")
        connection.execute("INSERT INTO vectors SELECT randomblob(8), 1, zeroblob(1000000)")
        return 0

    monkeypatch.setattr("cogvault.embedders.vector_store._newest_use", lambda connection: 0)
    monkeypatch.setattr("cogvault.embedders.vector_store._used_bytes", fail)
    with caplog.at_level(logging.WARNING):
        assert CachedEmbedder(inner, file).embed_documents(["second"]).any()
    assert "full" in caplog.text


def test_a_busy_file_is_gone_around_this_time_only(
    inner: Counting, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogvault.embedders.vector_store._BUSY_SECONDS", 0.01)
    cached = CachedEmbedder(inner, file)
    cached.embed_documents(["first"])
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert cached.embed_documents(["first", "second"]).any()
    assert inner.asked == ["first", "second"]
    cached.embed_documents(["second"])
    cached.embed_documents(["second"])
    assert inner.asked == ["first", "second", "second"]


def test_a_failing_model_is_not_hidden(file: Path) -> None:
    class Failing(Counting):
        __slots__ = ()

        def embed_documents(self, texts: Sequence[str]) -> FloatArray:
            raise ModelError("the model is broken")

    with pytest.raises(ModelError, match="broken"):
        CachedEmbedder(Failing(), file).embed_documents(["text"])


def test_threads_and_processes_share_one_file(inner: Counting, file: Path) -> None:
    code = """
import sys
from pathlib import Path
from cogvault.embedders import CachedEmbedder, HashingEmbedder
cached = CachedEmbedder(HashingEmbedder(64), Path(sys.argv[1]))
for start in range(0, 600, 20):
    assert cached.embed_documents([f"text {number}" for number in range(start, start + 40)]).any(axis=1).all()
"""
    command = [sys.executable, "-W", "error", "-c", code, str(file)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    cached = CachedEmbedder(inner, file)
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda start: cached.embed_documents([f"text {n}" for n in range(start, start + 40)]), range(0, 600, 20)
            )
        )
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    assert count_rows(file) == 620
