"""Does the score know when the answer is not there? Each question with, and without, its own article."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, mean_row, note
from benchmarks.squad import Question, by_language, options, write_vault
from benchmarks.systems import STILL
from cogvault import Config, Vault

__all__ = ["options", "run"]

K = 5


def run(args: argparse.Namespace) -> list[Row]:
    return by_language(args, _language)


def _language(file: Path, temp: Path, language: str, model: str) -> list[Row]:
    questions = write_vault(file, temp / "vault")
    common = {"recursive": True, "refresh_seconds": STILL}
    # What a machine without a model gives: keyword and title, on an index without vectors.
    keyword = Config.model_validate({**common, "model": "none", "index_dir": temp / "keyword"})
    default = Config.model_validate({**common, "model": model, "index_dir": temp / "default"})
    rows: list[Row] = []
    for system, config in (("keyword", keyword), ("default", default)):
        with Vault(temp / "vault", config) as vault:
            note(f"{language}, {system}: {vault.sync().seconds:.1f} s to sync")
            rows += _system(vault, system, language, questions)
    return rows


def _system(vault: Vault, system: str, language: str, questions: list[Question]) -> list[Row]:
    present, absent, answered, false = [], [], [], []
    for question in questions:
        present.append(_best(vault, question.text))
        absent.append(_best(vault, question.text, question.article))
        hits = vault.search(question.text, K)
        answered.append(float(any(hit.id == question.card for hit in hits)))
        false.append(float(len(vault.search(question.text, K, session_seen=question.article)) > 0))
    return [
        Row(system, language, "auroc", area_under_roc(np.array(present), np.array(absent)), len(questions)),
        mean_row(system, language, "answered", answered),
        mean_row(system, language, "false_answers", false),
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
