"""SQuAD-format data as a vault: one card a paragraph, no title, numbered file names, one folder an article."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


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
