"""A chat that is remembered turn by turn, and a memory that forgets what nobody needs.

Time is passed in, so that half a year takes a moment. Run it from anywhere: python examples/sessions.py
"""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cogvault import Config, Turn, Vault

MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
CHAT = (
    ("Ana", "The staging database is full again."),
    ("Bob", "I raised its disk to 200 GB.\n\n# What I ran\n\n```sh\nresize staging-db 200G\n```"),
    ("Ana", "Thanks. Let us look at it again in March."),
)


class Clock:
    """A clock that is set by hand."""

    now = MONDAY

    def __call__(self) -> datetime:
        return self.now


def talk(vault: Vault, clock: Clock) -> None:
    """Append turns, and find what was said."""
    with vault.session("standup") as session:
        for minute, (speaker, text) in enumerate(CHAT):
            session.append(speaker, text, at=clock() + timedelta(minutes=minute), meta={"channel": "ops"})
        session.append_many([Turn("Bob", "Will do.", MONDAY + timedelta(minutes=5))])
    print(f"{len(session.turns())} turns in {session.folder}")
    [hit, *_] = vault.search("who raised the disk to 200 GB?", path=session.folder)
    print(f"{hit.speaker} said it at {hit.at:%H:%M}: {hit.citation}")


def forget(vault: Vault, clock: Clock) -> None:
    """Half a year later: what was read stays, what was not goes to the archive."""
    for name in ("project_lunch.md", "project_backups.md"):
        seconds = MONDAY.timestamp()
        os.utime(vault.path / name, (seconds, seconds))
    clock.now = MONDAY + timedelta(days=120)
    vault.read("project_backups.md")
    clock.now = MONDAY + timedelta(days=182)
    for item in vault.sweep(apply=True).items:
        print(f"{item.card.strength:.2f}  {item.action or 'kept':<8}  {item.card.id}  ({item.reason})")
    vault.restore("project_lunch.md")
    print(f"brought back: strength {vault.strength('project_lunch.md').strength:.2f}")


def main() -> None:
    """A talk, then a sweep."""
    with tempfile.TemporaryDirectory() as folder:
        base, clock = Path(folder), Clock()
        (base / "memory").mkdir()
        (base / "memory" / "project_lunch.md").write_text("Lunch is at noon this week.", encoding="utf-8")
        (base / "memory" / "project_backups.md").write_text("Backups run at 02:00.", encoding="utf-8")
        config = Config(model="none", index_dir=base / "indexes", state_dir=base / "state")
        with Vault(base / "memory", config, clock=clock) as vault:
            talk(vault, clock)
            forget(vault, clock)


if __name__ == "__main__":
    main()
