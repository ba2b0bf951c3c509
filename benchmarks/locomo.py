"""Recall of evidence in long conversations (LoCoMo): one vault a conversation, one card a session."""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.rows import Row, data_path, mean_row, note
from benchmarks.systems import OnceEmbedder, systems
from cogvault import Hits, Vault
from cogvault.config import cache_folder
from cogvault.layers.tokens import estimate_tokens
from cogvault.registry import shared_models

DEPTH = 10
BUDGETS = (256, 512, 1024, 2048)
TURN_CATEGORIES = (1, 2, 3, 4)
FULL_CONTEXT = "full-context"
NEWEST_FIRST = "newest-first"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: its id in the data, where it stands, and its text as written in the card."""

    id: str
    card: str
    line: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it."""

    text: str
    category: int
    evidence: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns in order and all questions with evidence."""

    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="locomo JSON file")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--systems", default="keyword,semantic,rrf,default")


def run(args: argparse.Namespace) -> list[Row]:
    source = data_path(args.data, "locomo-dev.json")
    wanted = args.systems.split(",")
    measured: dict[tuple[str, str, str], tuple[list[float], list[int]]] = {}

    def add(system: str, unit: str, metric: str, group: int, value: float) -> None:
        values, groups = measured.setdefault((system, unit, metric), ([], []))
        values.append(value)
        groups.append(group)

    def add_baselines(group: int, talk: Conversation, question: Question) -> None:
        if question.category not in TURN_CATEGORIES:
            return
        lines = [f"{turn.speaker}: {turn.text}" for turn in talk.turns]
        for name, ordered in ((NEWEST_FIRST, lines[::-1]), (FULL_CONTEXT, lines)):
            for budget in BUDGETS:
                add(name, "turn", f"ER@{budget}", group, _inside(_truncated(ordered, budget), question))
            add(name, "turn", "tokens", group, float(estimate_tokens("\n".join(lines))))

    for group, sample in enumerate(json.loads(source.read_text())):
        with tempfile.TemporaryDirectory() as temp:
            folder = Path(temp)
            talk = write_vault(sample, folder / "vault")
            note(f"conversation {group + 1}: {len(talk.turns)} turns, {len(talk.questions)} questions")
            for question in talk.questions:
                add_baselines(group, talk, question)
            embedder = None
            for name, config in systems(model=args.model, index_dir=folder / "index").items():
                if name not in wanted:
                    continue
                if embedder is None:
                    found = shared_models(cache_folder(config), config.threads).get(args.model)
                    assert found is not None
                    embedder = OnceEmbedder(found)
                with Vault(folder / "vault", config, embedder=embedder) as vault:
                    vault.sync()
                    for question in talk.questions:
                        for unit, metric, value in measure(vault, question):
                            add(name, unit, metric, group, value)
                every_turn = config.model_copy(update={"hits_per_card": 0})
                with Vault(folder / "vault", every_turn, embedder=embedder) as vault:
                    for question in talk.questions:
                        for metric, value in measure_turns(vault, talk, question):
                            add(name, "turn", metric, group, value)
    return [mean_row(*key, values, groups) for key, (values, groups) in measured.items()]


def write_vault(sample: dict[str, object], folder: Path) -> Conversation:
    """Write each session of a sample as a dialogue card."""
    conversation = sample["conversation"]
    assert isinstance(conversation, dict)
    folder.mkdir(parents=True)
    turns: dict[str, Turn] = {}
    numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        at = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        stamp = at.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        card = f"session-{number:02}.md"
        lines = ["---", f"date: {stamp}", "---", ""]
        for turn in conversation[f"session_{number}"]:
            text = " ".join(turn["text"].split())
            if turn.get("blip_caption"):
                text += f" [shares a photo: {turn['blip_caption']}]"
            lines += [f"**{turn['speaker']}** ({stamp}): {text}", ""]
            turns[turn["dia_id"]] = Turn(turn["dia_id"], card, len(lines) - 1, turn["speaker"], text)
        (folder / card).write_text("\n".join(lines), encoding="utf-8")
    questions = []
    entries = sample["qa"]
    assert isinstance(entries, list)
    for entry in entries:
        ids = dict.fromkeys(re.findall(r"D\d+:\d+", " ".join(map(str, entry.get("evidence", [])))))
        evidence = tuple(turns[id] for id in ids if id in turns)
        if evidence:
            questions.append(Question(entry["question"], entry["category"], evidence))
    return Conversation(tuple(turns.values()), tuple(questions))


def measure(vault: Vault, question: Question) -> list[tuple[str, str, float]]:
    """Rows of unit ``session``: hits by card."""
    hits = vault.search(question.text, DEPTH, min_score=0.0)
    wanted = {turn.card for turn in question.evidence}
    return [("session", metric, value) for metric, value in _ranked([hit.id for hit in hits], wanted)]


def measure_turns(vault: Vault, talk: Conversation, question: Question) -> list[tuple[str, float]]:
    """Rows of unit ``turn``: every hit is a turn, and what fits into a token budget."""
    if question.category not in TURN_CATEGORIES:
        return []
    hits = vault.search(question.text, DEPTH, min_score=0.0)
    wanted = {turn.id for turn in question.evidence}
    rows = _ranked(_turns(hits, talk), wanted)
    for budget in BUDGETS:
        packed = vault.search(question.text, min_score=0.0, budget_tokens=budget)
        assert estimate_tokens(packed.text) <= budget
        rows.append((f"ER@{budget}", _inside(packed.text, question)))
    return rows


def _inside(text: str, question: Question) -> float:
    """Share of the evidence whose text stands in a packed answer."""
    return sum(turn.text in text for turn in question.evidence) / len(question.evidence)


def _truncated(lines: Sequence[str], budget: int) -> str:
    """The first lines that fit into a budget."""
    used, kept = 0, []
    for line in lines:
        used += estimate_tokens(line + "\n")
        if used > budget:
            break
        kept.append(line)
    return "\n".join(kept)


def _turns(hits: Hits, talk: Conversation) -> list[str]:
    """Ids of the turns that hits stand for, best first, each once."""
    places = {(turn.card, turn.line): turn.id for turn in talk.turns}
    found: dict[str, None] = {}
    for hit in hits:
        for line in range(hit.lines[0], hit.lines[1] + 1):
            if (hit.id, line) in places:
                found[places[hit.id, line]] = None
    return list(found)


def _ranked(found: Sequence[str], wanted: set[str]) -> list[tuple[str, float]]:
    right = [name in wanted for name in found[:DEPTH]]
    return [
        ("any@1", float(right[:1] == [True])),
        ("R@5", sum(right[:5]) / len(wanted)),
        ("R@10", sum(right) / len(wanted)),
        ("mrr@10", next((1 / rank for rank, hit in enumerate(right, 1) if hit), 0.0)),
    ]
