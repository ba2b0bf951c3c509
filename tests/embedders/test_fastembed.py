from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogvault.embedders import FastEmbedEmbedder
from cogvault.embedders.network import can_download
from cogvault.embedders.prefixes import Prefixes, prefixes_for
from cogvault.errors import ModelError, ModelUnavailable

fastembed = pytest.importorskip("fastembed")
TEXT_EMBEDDING: Any = fastembed.TextEmbedding


@pytest.fixture
def folder(local_model: Path, tmp_path: Path) -> Path:
    """A copy of the local model that a test may change."""
    return Path(shutil.copytree(local_model, tmp_path / "minilm"))


def make(folder: Path, tmp_path: Path) -> FastEmbedEmbedder:
    return FastEmbedEmbedder(str(folder), path=folder, cache_dir=tmp_path / "cache", threads=1)


def zero_second_half(file: Path) -> None:
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[: size // 2] + bytes(size - size // 2))


def test_a_local_folder_gives_the_vectors_of_fastembed_itself(local_model: Path, tmp_path: Path) -> None:
    texts = ["a cat sits on the mat", "quarterly revenue grew by ten percent", "the dog barks"]
    plain = fastembed.TextEmbedding(
        "sentence-transformers/all-MiniLM-L6-v2", specific_model_path=str(local_model), cache_dir=str(tmp_path)
    )
    expected = np.array(list(plain.embed(texts)))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    embedder = make(local_model, tmp_path)
    assert float((embedder.embed_documents(texts) * expected).sum(axis=1).min()) > 0.999
    assert (embedder.dim, embedder.max_tokens) == (384, 512)
    assert (embedder.floor, embedder.ceiling) == (None, None)


def test_short_texts_are_not_padded_to_a_fixed_length(folder: Path, tmp_path: Path) -> None:
    tokenizer_file = folder / "tokenizer.json"
    content = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    assert content["padding"]["strategy"] != "BatchLongest"
    embedder = make(folder, tmp_path)
    assert embedder.count_tokens(["two words"]) == [2]
    loaded = embedder._loaded()  # noqa: SLF001 - padding shows in time only, which a test must not assert
    assert len(loaded.model.tokenizer.encode("two words").ids) == 4


def test_each_batch_is_bounded_and_every_row_is_in_its_place(
    local_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"note number {number} " * (1 + number % 7) for number in range(40)]
    whole = make(local_model, tmp_path).embed_documents(texts)
    monkeypatch.setattr("cogvault.embedders.fastembed._BATCH_TOKENS", 100)
    parts = make(local_model, tmp_path).embed_documents(texts)
    assert float((whole * parts).sum(axis=1).min()) > 0.999


def test_four_threads_at_first_use_load_once(
    local_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []

    class Counted(TEXT_EMBEDDING):  # type: ignore[misc] # FastEmbed may be missing, so its class is Any
        def __init__(self, name: str, **options: Any) -> None:
            loads.append(name)
            super().__init__(name, **options)

    monkeypatch.setattr(fastembed, "TextEmbedding", Counted)
    embedder = make(local_model, tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(embedder.embed_query, ["text"] * 4))
    assert len(loads) == 1


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda file: file.write_bytes(file.read_bytes()[:100_000]), id="truncated"),
        pytest.param(zero_second_half, id="zeros"),
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
    ],
)
def test_a_damaged_model_is_an_error_that_names_the_file(
    damage: Callable[[Path], object], folder: Path, tmp_path: Path
) -> None:
    damage(folder / "model.onnx")
    with pytest.raises(ModelError) as caught:
        make(folder, tmp_path).embed_documents(["text", "another text"])
    assert not isinstance(caught.value, ModelUnavailable)
    assert caught.value.path == str(folder / "model.onnx")


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "config.json", "model.onnx"])
def test_a_folder_that_lacks_a_file_says_which(name: str, folder: Path, tmp_path: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable) as caught:
        make(folder, tmp_path).embed_query("text")
    assert name in f"{caught.value.path} {caught.value.hint}"


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"])
@pytest.mark.parametrize("content", ["{", "[]", "not json"])
def test_a_damaged_tokenizer_is_an_error_of_the_model(name: str, content: str, folder: Path, tmp_path: Path) -> None:
    (folder / name).write_text(content)
    with pytest.raises(ModelError) as caught:
        make(folder, tmp_path).embed_query("text")
    assert str(caught.value.path).startswith(str(folder))
    with pytest.raises(ModelError):
        _ = make(folder, tmp_path).max_tokens


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_a_config_that_makes_no_sense_is_an_error(content: str, folder: Path, tmp_path: Path) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(ModelError) as caught:
        make(folder, tmp_path).embed_query("text")
    assert caught.value.path == str(folder / "config.json")


def test_fingerprints_tell_weights_apart(local_model: Path, folder: Path, tmp_path: Path) -> None:
    before = make(folder, tmp_path).fingerprint
    assert before == make(local_model, tmp_path).fingerprint
    zero_second_half(folder / "model.onnx")
    assert make(folder, tmp_path).fingerprint != before


def test_a_named_model_without_network_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.embedders.network.can_download", lambda: False)
    for name in ("intfloat/multilingual-e5-small", "multilingual-e5-large", "BAAI/bge-small-en-v1.5"):
        embedder = FastEmbedEmbedder(name, cache_dir=tmp_path)
        assert embedder.dim in (384, 1024)
        assert embedder.fingerprint
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="not on this machine"):
                embedder.embed_query("text")


def test_a_network_that_is_away_is_asked_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = [0.0], []
    monkeypatch.setattr("cogvault.embedders.network.can_download", lambda: asked.append(now[0]))
    embedder = FastEmbedEmbedder("intfloat/multilingual-e5-small", cache_dir=tmp_path, clock=lambda: now[0])
    for now[0] in (0.0, 1.0, 59.0, 60.0, 61.0):
        with pytest.raises(ModelUnavailable, match="not on this machine"):
            _ = embedder.max_tokens
    assert asked == [0.0, 60.0]


def test_an_unknown_name_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="knows no model"):
        FastEmbedEmbedder("nobody/nothing", cache_dir=tmp_path).embed_query("text")


def test_names_with_and_without_their_owner_are_one_model(tmp_path: Path) -> None:
    long = FastEmbedEmbedder("intfloat/multilingual-e5-small", cache_dir=tmp_path)
    short = FastEmbedEmbedder("multilingual-e5-small", cache_dir=tmp_path)
    assert (long.fingerprint, long.dim, long.floor, long.ceiling) == (short.fingerprint, 384, 0.75, 0.95)


def place_in_cache(folder: Path, cache: Path) -> Path:
    """Put files where a download of e5-small would have left them (the weights are another model's)."""
    repository = cache / "fastembed" / "models--intfloat--multilingual-e5-small"
    snapshot = repository / "snapshots" / ("0" * 40)
    (snapshot / "onnx").mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    for file in folder.glob("*.json"):
        shutil.copyfile(file, snapshot / file.name)
    shutil.copyfile(folder / "model.onnx", snapshot / "onnx" / "model.onnx")
    return snapshot


def test_a_named_model_in_the_cache_needs_no_network(
    local_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_in_cache(local_model, tmp_path)
    monkeypatch.setattr("cogvault.embedders.network.can_download", lambda: pytest.fail("asked the network"))
    named = FastEmbedEmbedder("intfloat/multilingual-e5-small", cache_dir=tmp_path, threads=1)
    plain = make(local_model, tmp_path)
    np.testing.assert_allclose(named.embed_query("a cat"), plain.embed_query("query: a cat"), atol=1e-5)
    np.testing.assert_allclose(named.embed_documents(["a cat"]), plain.embed_documents(["passage: a cat"]), atol=1e-5)


def test_a_damaged_download_without_network_is_an_error_that_names_it(
    local_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = place_in_cache(local_model, tmp_path)
    zero_second_half(snapshot / "onnx" / "model.onnx")
    monkeypatch.setattr("cogvault.embedders.network.can_download", lambda: False)
    with pytest.raises(ModelError) as caught:
        FastEmbedEmbedder("intfloat/multilingual-e5-small", cache_dir=tmp_path).embed_query("text")
    assert "models--intfloat--multilingual-e5-small" in str(caught.value.path)
    assert snapshot.exists()


def test_a_damaged_download_is_fetched_again_and_nothing_else_is_touched(
    local_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = place_in_cache(local_model, tmp_path)
    zero_second_half(snapshot / "onnx" / "model.onnx")
    neighbor = tmp_path / "fastembed" / "models--another--model"
    neighbor.mkdir()

    class Downloading(TEXT_EMBEDDING):  # type: ignore[misc] # FastEmbed may be missing, so its class is Any
        def __init__(self, name: str, *, local_files_only: bool = False, **options: Any) -> None:
            if not local_files_only:
                assert not snapshot.exists()
                place_in_cache(local_model, tmp_path)
            super().__init__(name, local_files_only=True, **options)

    monkeypatch.setattr("cogvault.embedders.network.can_download", lambda: True)
    monkeypatch.setattr(fastembed, "TextEmbedding", Downloading)
    assert FastEmbedEmbedder("intfloat/multilingual-e5-small", cache_dir=tmp_path).embed_query("text").any()
    assert neighbor.exists()


def test_the_network_is_asked_for_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
        assert can_download()
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        assert not can_download()
        monkeypatch.delenv("HF_HUB_OFFLINE")
        monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
        assert not can_download()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        assert can_download()
    monkeypatch.delenv("http_proxy")
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    assert not can_download()
    monkeypatch.setenv("HF_ENDPOINT", "no address")
    assert not can_download()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("intfloat/multilingual-e5-small", Prefixes("query: ", "passage: ")),
        ("/models/e5-base-v2/", Prefixes("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", Prefixes()),
        ("nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
        ("nomic-ai/nomic-embed-text-v1.5-Q", Prefixes("search_query: ", "search_document: ")),
        ("mxbai-embed-large", Prefixes("Represent this sentence for searching relevant passages: ")),
        ("BAAI/bge-small-en-v1.5", Prefixes()),
        ("BAAI/bge-small-en", Prefixes("Represent this sentence for searching relevant passages: ")),
        ("all-MiniLM-L6-v2", Prefixes()),
        ("text-embedding-3-small", Prefixes()),
    ],
)
def test_families_get_the_prefixes_of_their_cards(model: str, expected: Prefixes) -> None:
    assert prefixes_for(model) == expected
