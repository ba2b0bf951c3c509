"""SQuAD-format data as a vault: one card a paragraph, no title, numbered file names, one folder an article."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rows import Row, data_path


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the id of the card that answers it, and the ids of all cards of its article."""

    text: str
    card: str
    article: tuple[str, ...]


def write_vault(source: Path, folder: Path) -> list[Question]:
    """Write every paragraph of a SQuAD file as a card and give all questions."""
    questions: list[Question] = []
    number = 0
    for place, article in enumerate(json.loads(source.read_text())["data"]):
        home = folder / f"{place:03}"
        home.mkdir(parents=True)
        asked: list[tuple[str, str]] = []
        cards: list[str] = []
        for paragraph in article["paragraphs"]:
            number += 1
            card = f"{place:03}/{number:05}.md"
            (folder / card).write_text(paragraph["context"] + "\n", encoding="utf-8")
            cards.append(card)
            asked.extend((entry["question"], card) for entry in paragraph["qas"])
        questions.extend(Question(text, card, tuple(cards)) for text, card in asked)
    return questions


def options(parser: argparse.ArgumentParser) -> None:
    """Arguments of every benchmark on SQuAD-format data."""
    parser.add_argument("--data", type=Path, help="folder with xquad.LL.json")
    parser.add_argument("--langs", default="en,ru,zh,hi,tr")
    parser.add_argument("--model", default="bundled")


def by_language(args: argparse.Namespace, measure: Callable[[Path, Path, str, str], list[Row]]) -> list[Row]:
    """Rows of all languages: ``measure`` gets the file, an empty folder, the language and the model."""
    source = data_path(args.data, "xquad")
    rows: list[Row] = []
    for language in args.langs.split(","):
        with tempfile.TemporaryDirectory() as temp:
            rows.extend(measure(source / f"xquad.{language}.json", Path(temp), language, args.model))
    return rows
