"""``cogvault demo``: the whole way from files to answers on a small vault."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogvault_cli.command import ExampleCommand
from cogvault_cli.example import QUESTIONS, Question, example_vault
from cogvault_cli.failures import DONE, FINDINGS
from cogvault_cli.options import Shared, shared_options
from cogvault_cli.output import make_console, print_json

if TYPE_CHECKING:
    from cogvault import Hits, SyncReport, Vault


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what was found."""

    question: Question
    hits: Hits

    @property
    def is_right(self) -> bool:
        """The expected card came first, or nothing was found where no card answers."""
        return (self.hits[0].file if len(self.hits) else None) == self.question.card

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form."""
        question = self.question
        return {
            "question": question.text,
            "language": question.language,
            "expected": question.card,
            "right": self.is_right,
            "answer": self.hits.to_dict(),
        }


@click.command("demo", cls=ExampleCommand, examples=("cogvault demo", "cogvault demo --model none"))
@shared_options()
def command(shared: Shared) -> int:
    """Try cogvault on a small example vault.

    The vault (32 notes of a coding agent in four languages) is copied into a temporary folder, indexed with the best
    model that is installed, asked a few questions, and removed. Nothing of yours is read or changed.
    """
    with tempfile.TemporaryDirectory(prefix="cogvault-demo-", ignore_cleanup_errors=True) as temporary:
        folder = Path(shutil.copytree(example_vault(), Path(temporary) / "memory"))
        place = {"tenant": str(folder), "index_dir": Path(temporary) / "indexes"}
        shared = replace(shared, tenant=folder, settings={**shared.settings, **place})
        with shared.open_here() as vault:
            answers = _answer_as_json(vault) if shared.as_json else _answer_for_people(vault)
    return DONE if all(answer.is_right for answer in answers) else FINDINGS


def _ask(vault: Vault, question: Question) -> Answer:
    return Answer(question, vault.search(question.text, k=1))


def _answer_as_json(vault: Vault) -> list[Answer]:
    report = vault.sync()
    answers = [_ask(vault, question) for question in QUESTIONS]
    right = all(answer.is_right for answer in answers)
    print_json(
        {
            "status": str(report.status),
            "right": right,
            "sync": report.to_dict(),
            "answers": [answer.to_dict() for answer in answers],
        }
    )
    return answers


def _answer_for_people(vault: Vault) -> list[Answer]:
    from cogvault_cli.views.demo import print_answer, print_end, print_start
    from cogvault_cli.views.sync import progress_bars

    console = make_console()
    with progress_bars(make_console(error=True)) as progress:
        report: SyncReport = vault.sync(progress=progress)
    print_start(console, vault.status(), report)
    answers = []
    for question in QUESTIONS:
        answer = _ask(vault, question)
        print_answer(console, question, answer.hits, is_right=answer.is_right)
        answers.append(answer)
    print_end(console, sum(answer.is_right for answer in answers), len(answers))
    return answers
