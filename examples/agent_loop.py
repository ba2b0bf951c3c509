"""An agent that remembers what it is told and corrects itself: recall, answer, record, supersede.

The "agent" here is twenty lines and knows no language model: what matters is what it asks of its memory, and when.
Run it from anywhere: python examples/agent_loop.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from cogvault import Config, Vault

MESSAGES = (
    "Deploys go out on Tuesday at 10:00.",
    "When do deploys go out?",
    "Deploys go out on Thursday at 10:00.",
    "When do deploys go out?",
    "Our staging password: hunter2wombat",
    "Deploys go out on Thursday at 10:00.",
    "Who likes tea?",
)


def answer(vault: Vault, question: str) -> str:
    """What memory says, and where it says so; an honest "nothing" otherwise."""
    hits = vault.search(question, k=1)
    return f"{hits[0].snippet}  [{hits[0].citation}]" if hits else "I was never told."


def learn(vault: Vault, statement: str) -> str:
    """Write a statement down. What says nearly the same is taken for its older version, and superseded by it."""
    written = vault.record(statement, type="project", source="chat", redact=True)
    if written.action == "existing":
        return f"known already: {written.id}"
    for older in written.similar:
        vault.supersede(older.id, written.id)
    corrected = "".join(f", instead of {older.id}" for older in written.similar)
    return f"noted: {written.id}{corrected}"


def main() -> None:
    """Seven messages; the third corrects the first, the fifth holds a password, the sixth says nothing new."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder) / "memory"
        memory.mkdir()
        with Vault(memory, Config(index_dir=Path(folder) / "indexes", state_dir=Path(folder) / "state")) as vault:
            for message in MESSAGES:
                reply = answer(vault, message) if message.endswith("?") else learn(vault, message)
                print(f"> {message}\n  {reply}")
            print()
            for version in vault.history("project_deploys-go-out-on-thursday-at-10-00.md"):
                print(f"{version.title}: {version.valid}")


if __name__ == "__main__":
    main()
