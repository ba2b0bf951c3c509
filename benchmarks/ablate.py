"""What each choice of the score is worth: one change at a time, on the data it was tuned on and on data it was not.

Tuned on: LoCoMo conversations 1 and 2, XQuAD English and Chinese. Checked on: the other conversations, Russian, Hindi,
Turkish. Variants change settings, or constants of the scoring module, for the length of one run; the index is the same.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from benchmarks.locomo import TURN_CATEGORIES, Conversation, ranked, turns_of, write_vault
from benchmarks.rows import Row, data_path, mean_row, note
from benchmarks.squad import Question
from benchmarks.squad import write_vault as write_squad
from benchmarks.systems import OnceEmbedder, systems
from cogvault import Config, Vault
from cogvault.config import cache_folder
from cogvault.registry import shared_models
from cogvault.retrieval import scoring
from cogvault.text import queries
from cogvault.types import Evidence, FloatArray

DEPTH = 60
TUNED_CONVERSATIONS = 2
TUNED_LANGUAGES = ("en", "zh")


def _chunk_idf(evidence: Evidence, window: int) -> tuple[FloatArray, ...]:
    """One idf for every layer, as if windows and cards were chunks."""
    return (scoring.idf(evidence.chunk_frequency, evidence.chunk_count),) * 3


# Settings to change, or (module, constant, value) to change for the run.
VARIANTS: Mapping[str, Mapping[str, object] | tuple[tuple[ModuleType, str, object], ...]] = {
    "default": {},
    "chunk only": {"layer_weights": (1.0, 0.0, 0.0)},
    "0.5 / 0.3 / 0.2": {"layer_weights": (0.5, 0.3, 0.2)},
    "0.4 / 0.4 / 0.2": {"layer_weights": (0.4, 0.4, 0.2)},
    "window 1": {"window": 1},
    "window 4": {"window": 4},
    "candidates 200": {"candidates": 200},
    "semantic weight 0.3": {"semantic_weight": 0.3},
    "semantic weight 0.5": {"semantic_weight": 0.5},
    "semantic weight 0.6": {"semantic_weight": 0.6},
    "no grams": ((queries, "GRAM_WEIGHT", 0.0),),
    "grams 0.25": ((queries, "GRAM_WEIGHT", 0.25),),
    "no exact forms": ((queries, "EXACT_WEIGHT", 0.0), (queries, "IDENTIFIER_WEIGHT", 0.0)),
    "no speaker bonus": ((scoring, "SPEAKER_BONUS", 0.0),),
    "no keyword floor": ((scoring, "KEYWORD_FLOOR", 1e-6),),
    "b = 0.75 everywhere": ((scoring, "B_DETAIL", 0.75), (scoring, "B_WINDOW", 0.75)),
    "b = 0.3 everywhere": ((scoring, "B_WINDOW", 0.3), (scoring, "B_CARD", 0.3)),
    "idf of chunks in all layers": ((scoring, "layer_idf", _chunk_idf),),
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, help="folder with locomo-dev.json and xquad/")
    parser.add_argument("--langs", default="en,zh,ru,hi,tr")
    parser.add_argument("--model", default="bundled")


def run(args: argparse.Namespace) -> list[Row]:
    source = data_path(args.data)
    found = shared_models(cache_folder(Config()), Config().threads).get(args.model)
    assert found is not None
    embedder = OnceEmbedder(found)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temp:
        talks = _talks(source / "locomo-dev.json", Path(temp))
        squads = _squads(source / "xquad", Path(temp), args.langs.split(","))
        for name, change in VARIANTS.items():
            settings = dict(change) if isinstance(change, Mapping) else {}
            with patched(() if isinstance(change, Mapping) else change):
                config = systems(model=args.model, index_dir=Path(temp) / "index", **settings)["default"]
                rows.extend(_talk_rows(name, talks, config, embedder))
                rows.extend(_squad_rows(name, squads, config, embedder))
            note(name)
    return rows


@contextmanager
def patched(changes: tuple[tuple[ModuleType, str, object], ...]) -> Iterator[None]:
    """Constants with other values, put back at the end."""
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    for module, name, value in changes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _talks(file: Path, temp: Path) -> list[tuple[Path, Conversation]]:
    samples = json.loads(file.read_text())
    return [
        (temp / f"talk-{place}", write_vault(sample, temp / f"talk-{place}")) for place, sample in enumerate(samples)
    ]


def _squads(folder: Path, temp: Path, languages: list[str]) -> dict[str, tuple[Path, list[Question]]]:
    return {name: (temp / name, write_squad(folder / f"xquad.{name}.json", temp / name)) for name in languages}


def _talk_rows(
    name: str, talks: list[tuple[Path, Conversation]], config: Config, embedder: OnceEmbedder
) -> Iterator[Row]:
    values: dict[tuple[str, str], list[float]] = {}
    for place, (folder, talk) in enumerate(talks):
        half = "tuned" if place < TUNED_CONVERSATIONS else "checked"
        with Vault(folder, config.model_copy(update={"hits_per_card": 0}), embedder=embedder) as vault:
            vault.sync()
            for question in talk.questions:
                hits = vault.search(question.text, DEPTH, min_score=0.0)
                cards = list(dict.fromkeys(hit.id for hit in hits))
                for metric, value in ranked(cards, {turn.card for turn in question.evidence}):
                    values.setdefault((half, f"session {metric}"), []).append(value)
                if question.category in TURN_CATEGORIES:
                    for metric, value in ranked(turns_of(hits, talk), {turn.id for turn in question.evidence}):
                        values.setdefault((half, f"turn {metric}"), []).append(value)
    for (half, metric), all_values in values.items():
        yield mean_row(name, half, metric, all_values)


def _squad_rows(
    name: str, squads: dict[str, tuple[Path, list[Question]]], config: Config, embedder: OnceEmbedder
) -> Iterator[Row]:
    halves: dict[str, list[float]] = {}
    for language, (folder, questions) in squads.items():
        half = "tuned" if language in TUNED_LANGUAGES else "checked"
        with Vault(folder, config, embedder=embedder) as vault:
            vault.sync()
            for question in questions:
                hits = vault.search(question.text, 1, min_score=0.0)
                halves.setdefault(half, []).append(float(any(hit.id == question.card for hit in hits)))
    for half, values in halves.items():
        yield mean_row(name, half, "xquad hit@1", values)
