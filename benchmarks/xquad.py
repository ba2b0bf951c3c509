"""Retrieval of the right paragraph, every system, one vault a language."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.rows import Row, mean_row, note
from benchmarks.squad import Question, by_language, options, write_vault
from benchmarks.systems import OnceEmbedder, systems
from cogvault import Vault
from cogvault.config import cache_folder
from cogvault.registry import shared_models

__all__ = ["options", "run"]

DEPTH = 10


def run(args: argparse.Namespace) -> list[Row]:
    return by_language(args, _language)


def _language(file: Path, temp: Path, language: str, model: str) -> list[Row]:
    questions = write_vault(file, temp / "vault")
    rows: list[Row] = []
    embedder = None
    for name, config in systems(model=model, index_dir=temp / "index").items():
        if embedder is None:
            found = shared_models(cache_folder(config), config.threads).get(model)
            assert found is not None
            embedder = OnceEmbedder(found)
        with Vault(temp / "vault", config, embedder=embedder) as vault:
            report = vault.sync()
            note(f"{language} {name}: {report.seconds:.1f} s to sync")
            ranks = [_rank(vault, question) for question in questions]
        metrics = {
            "hit@1": [float(rank == 1) for rank in ranks],
            "hit@5": [float(0 < rank <= 5) for rank in ranks],
            "mrr@10": [1 / rank if rank else 0.0 for rank in ranks],
        }
        rows.extend(mean_row(name, language, metric, values) for metric, values in metrics.items())
    return rows


def _rank(vault: Vault, question: Question) -> int:
    """Rank of the right card, 0 past the depth."""
    hits = vault.search(question.text, DEPTH, min_score=0.0)
    return next((rank for rank, hit in enumerate(hits, 1) if hit.id == question.card), 0)
