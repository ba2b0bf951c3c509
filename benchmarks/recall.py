"""What an agent is told: evidence (LoCoMo) inside what ``cogvault_recall`` gives, beside ``Vault.search``."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.locomo import TURN_CATEGORIES, Conversation, Table, inside, write_vault
from benchmarks.rows import Row, data_path, note
from benchmarks.systems import OnceEmbedder, systems
from cogvault import Config, Vault, estimate_tokens
from cogvault.config import cache_folder
from cogvault.registry import shared_models
from cogvault_mcp.memory import Memory
from cogvault_mcp.tools.recall import RECALL, RecallArguments

# The last is what a tool gives when no budget is named.
BUDGETS = (1000, 2000, 4000)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, help="locomo JSON file")
    parser.add_argument("--model", default="bundled")


def run(args: argparse.Namespace) -> list[Row]:
    found = shared_models(cache_folder(Config()), Config().threads).get(args.model)
    assert found is not None
    embedder = OnceEmbedder(found)
    table = Table()
    for group, sample in enumerate(json.loads(data_path(args.data, "locomo-dev.json").read_text())):
        with tempfile.TemporaryDirectory() as temp:
            talk = write_vault(sample, Path(temp) / "vault")
            note(f"conversation {group + 1}: {len(talk.turns)} turns, {len(talk.questions)} questions")
            config = systems(model=args.model, index_dir=Path(temp) / "index")["default"]
            with Vault(Path(temp) / "vault", config, embedder=embedder) as vault:
                vault.sync()
                _measure(vault, talk, table, group)
    return table.rows()


def _measure(vault: Vault, talk: Conversation, table: Table, group: int) -> None:
    """One conversation: the tool as a client calls it, and what the library packs into the same budget."""
    memory = Memory(lambda: vault)
    for question in talk.questions:
        if question.category not in TURN_CATEGORIES:
            continue
        for budget in BUDGETS:
            arguments = RecallArguments(query=question.text, budget_tokens=budget)
            told = {
                "search": vault.search(question.text, budget_tokens=budget).text,
                "no_threshold": vault.search(question.text, min_score=0.0, budget_tokens=budget).text,
                "mcp": RECALL.run(memory, arguments, lambda done, total, step: None).text,
            }
            for system, text in told.items():
                assert estimate_tokens(text) <= budget
                table.add(system, "turn", f"ER@{budget}", group, inside(text, question))
                table.add(system, "turn", f"tokens@{budget}", group, float(estimate_tokens(text)))
