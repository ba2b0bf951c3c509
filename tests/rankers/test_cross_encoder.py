"""The cross-encoder, and searches that are ordered by it. The model is small and real."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fastembed.rerank.cross_encoder
import numpy as np
import pytest

from cogvault import Config, Hits, Vault
from cogvault.errors import ModelError, ModelUnavailable
from cogvault.rankers import CrossEncoder
from cogvault.rankers.cross_encoder import PAUSE_SECONDS
from cogvault.registry import ModelPool
from tests.rankers.tiny_cross_encoder import make_cross_encoder

WORDS = ("which", "queue", "holds", "the", "jobs", "redis", "postgres", "billing")
# Keyword search prefers a short card; the model likes words that stand there again and again.
LONG = f"# Notes\n\n{'We talked of many other things as well. ' * 8}The jobs: redis, redis, redis, redis, redis.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("models") / "overlap", WORDS)


@pytest.fixture
def vault_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "short.md").write_text("# Queue\n\nqueue jobs\n")
    (folder / "long.md").write_text(LONG)
    return folder


def config(tmp_path: Path, rerank: Path | None) -> Config:
    name = None if rerank is None else str(rerank)
    return Config(model="none", index_dir=tmp_path / "index", cache_dir=tmp_path / "cache", rerank_model=name)


def ask(folder: Path, tmp_path: Path, rerank: Path | None) -> Hits:
    with Vault(folder, config(tmp_path, rerank)) as vault:
        vault.sync()
        return vault.search("which queue holds the jobs", min_score=0.0, explain=True)


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

    def counted(self: Any, name: str, *rest: Any, **options: Any) -> None:
        loads.append(name)
        made(self, name, *rest, **options)

    monkeypatch.setattr(fastembed.rerank.cross_encoder.TextCrossEncoder, "__init__", counted)
    encoder = CrossEncoder(str(model), tmp_path)
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda _: encoder.score("queue", ["queue"])[0], range(8)))
    assert len(loads) == 1
    assert len(set(scores)) == 1


def test_a_folder_without_a_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no ONNX model"):
        CrossEncoder(str(tmp_path), tmp_path).score("query", ["passage"])


def test_a_name_that_nobody_knows_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no/such-reranker"):
        CrossEncoder("no/such-reranker", tmp_path).score("query", ["passage"])


@pytest.mark.parametrize("name", ["BAAI/bge-reranker-v2-m3-int8", "jinaai/jina-reranker-v1-tiny-en"])
def test_a_model_that_is_not_here_is_unavailable(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for _ in range(2):  # the second one is taught to FastEmbed already
        with pytest.raises(ModelUnavailable, match="not on this machine"):
            CrossEncoder(name, tmp_path).score("query", ["passage"])


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.onnx", b"\0" * 100),
        ("tokenizer.json", b"{"),
        ("tokenizer.json", b'{"model": 1}'),
        ("config.json", b"no JSON"),
        ("tokenizer_config.json", None),
    ],
)
def test_a_damaged_model_names_its_folder(file: str, content: bytes | None, tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path / "damaged", WORDS)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        CrossEncoder(str(folder), tmp_path).score("query", ["passage"])
    assert caught.value.path == str(folder)


def test_a_model_that_failed_is_left_alone_for_a_while(tmp_path: Path) -> None:
    folder, now = tmp_path / "later", [0.0]
    folder.mkdir()
    encoder = CrossEncoder(str(folder), tmp_path, clock=lambda: now[0])
    with pytest.raises(ModelUnavailable):
        encoder.score("queue", ["queue"])
    folder.rmdir()
    make_cross_encoder(folder, WORDS)
    now[0] = PAUSE_SECONDS - 1
    with pytest.raises(ModelUnavailable):
        encoder.score("queue", ["queue"])
    now[0] = PAUSE_SECONDS
    assert encoder.score("queue", ["queue"]).shape == (1,)


def test_vaults_of_one_process_share_a_reranker(model: Path, tmp_path: Path) -> None:
    pool = ModelPool(tmp_path)
    assert pool.reranker(str(model), 1) is pool.reranker(str(model), 2)


def test_reranking_orders_hits_and_keeps_their_scores(vault_folder: Path, tmp_path: Path, model: Path) -> None:
    plain = ask(vault_folder, tmp_path, None)
    hits = ask(vault_folder, tmp_path, model)
    assert plain[0].id == "short.md"
    assert [hit.id for hit in hits] == ["long.md", "short.md"]
    assert {hit.id: hit.score for hit in hits} == {hit.id: hit.score for hit in plain}
    said = [part for hit in hits for part in hit.parts if part.name == "rerank"]
    assert [part.value for part in said] == sorted((part.value for part in said), reverse=True)
    assert [part.contribution for part in said] == [0.0, 0.0]
    assert hits.status == "ok"


def test_a_card_below_the_fifth_place_can_come_up(tmp_path: Path, model: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.md").write_text(f"# Which queue holds the jobs {number}\n\nA card.\n")
    (folder / "long.md").write_text(LONG)
    plain = [hit.id for hit in ask(folder, tmp_path, None)]
    assert "long.md" not in plain
    reranked = [hit.id for hit in ask(folder, tmp_path, model)]
    assert (len(reranked), reranked[0]) == (len(plain), "long.md")


def test_reading_ten_lowers_no_threshold(tmp_path: Path, model: Path) -> None:
    """What is shown is as good as without a reranker: more cards are read, of those that reached the same rung."""
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(7):
        (folder / f"{number}.md").write_text(f"# Notes {number}\n\nThe queue holds the jobs.\n")
    for number in range(4):
        (folder / f"weak-{number}.md").write_text(f"# Others {number}\n\n{'Filler. ' * 60} redis jobs.\n")
    answers = []
    for rerank in (None, model):
        with Vault(folder, config(tmp_path, rerank)) as vault:
            vault.sync()
            answers.append(vault.search("which queue holds the jobs"))
    plain, reranked = answers
    assert len(plain) == len(reranked) == 5
    assert plain.trace.rung == reranked.trace.rung
    assert min(hit.score for hit in reranked) >= float(plain.trace.rung)


def test_the_best_passage_of_a_card_is_read_and_not_its_head(tmp_path: Path, model: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    for name in ("a", "b"):
        answer = "which queue holds the jobs" if name == "b" else "nothing of interest"
        (folder / f"{name}.md").write_text(f"# Which queue\n\n{'Filler. ' * 300}\n\n## More\n\n{answer}\n")
    assert next(iter(ask(folder, tmp_path, model))).id == "b.md"


def test_a_reranker_that_fails_keeps_the_order_and_says_so(vault_folder: Path, tmp_path: Path) -> None:
    plain = ask(vault_folder, tmp_path, None)
    hits = ask(vault_folder, tmp_path, tmp_path)
    assert [hit.id for hit in hits] == [hit.id for hit in plain]
    assert hits.status == "degraded"
    assert hits.reason == "not reranked: the folder holds no ONNX model"
    assert hits.hint


def test_the_packed_answer_follows_the_reranker(vault_folder: Path, tmp_path: Path, model: Path) -> None:
    with Vault(vault_folder, config(tmp_path, model)) as vault:
        vault.sync()
        hits = vault.search("which queue holds the jobs", min_score=0.0, budget_tokens=40)
    assert hits[0].id == "long.md"
    assert "redis" in hits.text


def test_a_superseded_card_stays_below_what_holds(tmp_path: Path, model: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "old.md").write_text("---\nsuperseded_by: new\n---\n\nwhich queue holds the jobs redis\n")
    (folder / "new.md").write_text("The jobs are in postgres now, no longer in the queue of before.\n")
    config = Config(model="none", index_dir=tmp_path / "i", cache_dir=tmp_path / "c", rerank_model=str(model))
    with Vault(folder, config) as vault:
        vault.sync()
        hits = vault.search("which queue holds the jobs", min_score=0.0)
    assert [(hit.id, hit.valid) for hit in hits] == [("new.md", "current"), ("old.md", "superseded")]
