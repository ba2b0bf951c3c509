"""Does the score know when the answer is not there? Each question with, and without, its own article."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, mean_row, note
from benchmarks.squad import by_language, options, write_vault
from benchmarks.systems import STILL
from cogvault import Config, Vault

__all__ = ["options", "run"]

K = 5


def run(args: argparse.Namespace) -> list[Row]:
    return by_language(args, _language)


def _language(file: Path, temp: Path, language: str, model: str) -> list[Row]:
    questions = write_vault(file, temp / "vault")
    config = Config(model=model, index_dir=temp / "index", recursive=True, refresh_seconds=STILL)
    present, absent, answered, false = [], [], [], []
    with Vault(temp / "vault", config) as vault:
        note(f"{language}: {vault.sync().seconds:.1f} s to sync")
        for question in questions:
            present.append(_best(vault, question.text))
            absent.append(_best(vault, question.text, question.article))
            hits = vault.search(question.text, K)
            answered.append(float(any(hit.id == question.card for hit in hits)))
            false.append(float(len(vault.search(question.text, K, session_seen=question.article)) > 0))
    return [
        Row("default", language, "auroc", area_under_roc(np.array(present), np.array(absent)), len(questions)),
        mean_row("default", language, "answered", answered),
        mean_row("default", language, "false_answers", false),
    ]


def _best(vault: Vault, text: str, without: tuple[str, ...] = ()) -> float:
    hits = vault.search(text, 1, min_score=0.0, session_seen=without)
    return hits[0].score if hits else 0.0


def area_under_roc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Chance that a random positive is above a random negative; ties count half."""
    order = np.sort(negative)
    below = np.searchsorted(order, positive, side="left")
    up_to = np.searchsorted(order, positive, side="right")
    return float(((below + up_to) / 2).mean() / len(negative))
