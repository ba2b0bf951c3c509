"""A vault as a user has it, on real files, with a clock that a test turns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cogvault import Config, Vault
from tests.indexing.conftest import plain_user_vault
from tests.vault.conftest import Shelf

__all__ = ["Desk", "desk", "plain_user_vault"]


class Desk(Shelf):
    """A shelf whose vault knows no hour but the one that it is told."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.now = datetime(2026, 6, 1, 12, tzinfo=UTC)
        self._state = base / "state"

    def config(self, **settings: Any) -> Config:
        """The shelf's settings; what cannot be rebuilt lies beside the vault too."""
        return super().config(**{"state_dir": self._state, **settings})

    def open(self, root: Path | None = None, **arguments: Any) -> Vault:
        """Another vault object."""
        return super().open(root, **{"clock": lambda: self.now, **arguments})

    def read(self, path: str) -> str:
        """A file's text with the newlines that it has."""
        return (self.root / path).read_bytes().decode()

    def files(self) -> dict[str, bytes]:
        """Every file of the vault, hidden ones too."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path.resolve())
    yield desk
    desk.close()
