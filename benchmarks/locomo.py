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
from cogvault import Config, Hits, Vault
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
    parser.add_argument("--data", type=Path, help="locomo JSON file")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--systems", default="keyword,semantic,rrf,default")


def run(args: argparse.Namespace) -> list[Row]:
    source = data_path(args.data, "locomo-dev.json")
    table = Table()
    for group, sample in enumerate(json.loads(source.read_text())):
        with tempfile.TemporaryDirectory() as temp:
            talk = write_vault(sample, Path(temp) / "vault")
            note(f"conversation {group + 1}: {len(talk.turns)} turns, {len(talk.questions)} questions")
            _baselines(talk, table, group)
            _systems(talk, Path(temp), args.model, args.systems.split(","), table, group)
    return table.rows()


class Table:
    """Values by system, unit and metric, each with the conversation that it comes from."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str, str], tuple[list[float], list[int]]] = {}

    def add(self, system: str, unit: str, metric: str, group: int, value: float) -> None:
        """Add one question's value."""
        values, groups = self._cells.setdefault((system, unit, metric), ([], []))
        values.append(value)
        groups.append(group)

    def rows(self) -> list[Row]:
        """Means with intervals over conversations."""
        return [mean_row(*key, values, groups) for key, (values, groups) in self._cells.items()]


def _systems(talk: Conversation, temp: Path, model: str, wanted: Sequence[str], table: Table, group: int) -> None:
    found = shared_models(cache_folder(Config()), Config().threads).get(model)
    assert found is not None
    embedder = OnceEmbedder(found)
    for name, config in systems(model=model, index_dir=temp / "index").items():
        if name not in wanted:
            continue
        with Vault(temp / "vault", config, embedder=embedder) as vault:
            vault.sync()
            for question in talk.questions:
                for metric, value in measure_sessions(vault, question):
                    table.add(name, "session", metric, group, value)
        every_turn = config.model_copy(update={"hits_per_card": 0})
        with Vault(temp / "vault", every_turn, embedder=embedder) as vault:
            for question in talk.questions:
                for metric, value in measure_turns(vault, talk, question):
                    table.add(name, "turn", metric, group, value)


def _baselines(talk: Conversation, table: Table, group: int) -> None:
    lines = [f"{turn.speaker}: {turn.text}" for turn in talk.turns]
    for name, ordered in ((NEWEST_FIRST, lines[::-1]), (FULL_CONTEXT, lines)):
        shown = {budget: _truncated(ordered, budget) for budget in BUDGETS}
        for question in talk.questions:
            if question.category in TURN_CATEGORIES:
                for budget, text in shown.items():
                    table.add(name, "turn", f"ER@{budget}", group, inside(text, question))
        table.add(name, "turn", "tokens", group, float(estimate_tokens("\n".join(lines))))


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


def measure_sessions(vault: Vault, question: Question) -> list[tuple[str, float]]:
    """Rows of unit ``session``: hits by card."""
    hits = vault.search(question.text, DEPTH, min_score=0.0)
    return ranked([hit.id for hit in hits], {turn.card for turn in question.evidence})


def measure_turns(vault: Vault, talk: Conversation, question: Question) -> list[tuple[str, float]]:
    """Rows of unit ``turn``: every hit is a turn, and what fits into a token budget."""
    if question.category not in TURN_CATEGORIES:
        return []
    hits = vault.search(question.text, DEPTH, min_score=0.0)
    wanted = {turn.id for turn in question.evidence}
    rows = ranked(turns_of(hits, talk), wanted)
    for budget in BUDGETS:
        packed = vault.search(question.text, min_score=0.0, budget_tokens=budget)
        assert estimate_tokens(packed.text) <= budget
        rows.append((f"ER@{budget}", inside(packed.text, question)))
    return rows


def inside(text: str, question: Question) -> float:
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


def turns_of(hits: Hits, talk: Conversation) -> list[str]:
    """Ids of the turns that hits stand for, best first, each once."""
    places = {(turn.card, turn.line): turn.id for turn in talk.turns}
    found: dict[str, None] = {}
    for hit in hits:
        for line in range(hit.lines[0], hit.lines[1] + 1):
            if (hit.id, line) in places:
                found[places[hit.id, line]] = None
    return list(found)


def ranked(found: Sequence[str], wanted: set[str]) -> list[tuple[str, float]]:
    right = [name in wanted for name in found[:DEPTH]]
    return [
        ("any@1", float(right[:1] == [True])),
        ("R@5", sum(right[:5]) / len(wanted)),
        ("R@10", sum(right) / len(wanted)),
        ("mrr@10", next((1 / rank for rank, hit in enumerate(right, 1) if hit), 0.0)),
    ]
