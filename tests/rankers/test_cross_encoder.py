"""The cross-encoder, and searches that are ordered by it. The model is small and real."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fastembed.rerank.cross_encoder
import numpy as np
import pytest

from cogvault import Config, Vault
from cogvault.errors import ModelError, ModelUnavailable
from cogvault.rankers import CrossEncoder
from tests.rankers.tiny_cross_encoder import make_cross_encoder

WORDS = ("which", "queue", "holds", "the", "jobs", "redis", "postgres", "billing")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("models") / "overlap", WORDS)


@pytest.fixture
def vault_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "short.md").write_text("# Queue\n\nqueue jobs\n")
    (folder / "long.md").write_text(
        "# Notes\n\nAfter a long talk about other things we said which queue holds the jobs, and that was postgres.\n"
    )
    return folder


def ask(folder: Path, tmp_path: Path, rerank: Path | None, **more: object) -> tuple[list[str], object]:
    config = Config.model_validate(
        {"model": "none", "index_dir": tmp_path / "index", "cache_dir": tmp_path / "cache"}
        | ({"rerank_model": str(rerank)} if rerank else {})
    )
    with Vault(folder, config) as vault:
        vault.sync()
        hits = vault.search("which queue holds the jobs", min_score=0.0, explain=True)
        return [hit.id for hit in hits], hits


def test_a_passage_that_shares_more_words_scores_higher(model: Path, tmp_path: Path) -> None:
    encoder = CrossEncoder(str(model), tmp_path)
    scores = encoder.score("which queue holds jobs", ["billing", "queue jobs", "which queue holds jobs"])
    assert scores.dtype == np.float32
    assert 0 < scores[0] < scores[1] < scores[2] < 1


def test_no_passage_gives_no_score_and_loads_nothing(tmp_path: Path) -> None:
    assert CrossEncoder(str(tmp_path / "nothing here"), tmp_path).score("query", []).shape == (0,)


def test_the_model_is_loaded_once_by_four_threads(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    made = fastembed.rerank.cross_encoder.TextCrossEncoder.__init__

    def counted(self: object, name: str, *rest: object, **options: object) -> None:
        loads.append(name)
        made(self, name, *rest, **options)

    monkeypatch.setattr(fastembed.rerank.cross_encoder.TextCrossEncoder, "__init__", counted)
    encoder = CrossEncoder(str(model), tmp_path)
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda _: encoder.score("queue", ["queue"])[0], range(8)))
    assert len(loads) == 1
    assert len(set(scores)) == 1


def test_a_folder_without_a_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        CrossEncoder(str(tmp_path), tmp_path).score("query", ["passage"])


def test_a_damaged_model_names_its_folder(tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path / "damaged", WORDS)
    (folder / "model.onnx").write_bytes(b"\0" * 100)
    with pytest.raises(ModelError) as caught:
        CrossEncoder(str(folder), tmp_path).score("query", ["passage"])
    assert caught.value.path == str(folder)


def test_reranking_orders_hits_and_keeps_their_scores(vault_folder: Path, tmp_path: Path, model: Path) -> None:
    plain_ids, plain = ask(vault_folder, tmp_path, None)
    ids, hits = ask(vault_folder, tmp_path, model)
    assert ids[0] == "long.md"
    assert sorted(ids) == sorted(plain_ids)
    assert {hit.id: hit.score for hit in hits} == {hit.id: hit.score for hit in plain}  # type: ignore[attr-defined]
    said = [part for hit in hits for part in hit.parts if part.name == "rerank"]  # type: ignore[attr-defined]
    assert [part.value for part in said] == sorted((part.value for part in said), reverse=True)


def test_a_reranker_that_fails_keeps_the_order_and_says_so(vault_folder: Path, tmp_path: Path) -> None:
    plain_ids, _ = ask(vault_folder, tmp_path, None)
    ids, hits = ask(vault_folder, tmp_path, tmp_path)
    assert ids == plain_ids
    assert hits.status == "degraded"  # type: ignore[attr-defined]
    assert "not reranked" in hits.reason  # type: ignore[attr-defined]
