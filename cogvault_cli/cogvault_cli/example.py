"""The example vault that is shipped with the command line, and questions that it answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cogvault.errors import VaultError

# In a checkout the first is a link to the second, which some systems check out as a plain file.
_PLACES = (Path(__file__).parent / "example_vault", Path(__file__).parents[2] / "examples" / "memory")


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the demo.

    Attributes:
        language: what it is asked in.
        text: the question.
        card: file of the card that answers it, None = no card does.
    """

    language: str
    text: str
    card: str | None


QUESTIONS = (
    Question("English", "Why did we move background jobs away from Redis?", "project_queue-on-postgres.md"),
    Question(
        "Ukrainian", "Як часто ми перевіряємо, що базу можна відновити з копії?", "project_резервне-копіювання.md"
    ),
    Question("Chinese", "支付平台的回调丢失了怎么办？", "project_支付回调重试.md"),
    Question("German", "Warum dürfen Rechnungen keine Lücken in der Nummer haben?", "project_rechnungsnummern.md"),
    Question("English, no answer", "Which wine goes with grilled octopus?", None),
)


def example_vault() -> Path:
    """Folder of the example vault.

    Raises:
        VaultError: it was not shipped.
    """
    for place in _PLACES:
        if place.is_dir():
            return place
    raise VaultError("the example vault is missing", path=_PLACES[0], hint="install cogvault-cli again")
