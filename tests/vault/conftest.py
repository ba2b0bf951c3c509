from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogvault import Config, Hits, Vault
from cogvault.types import CardInfo, Problem


class Shelf:
    """A folder of cards and the vaults opened on it, as a user has them: real files, a real index, no model."""

    def __init__(self, base: Path) -> None:
        self.root = base / "vault"
        self.root.mkdir()
        self.indexes = base / "indexes"
        self.caches = base / "caches"
        self._opened: list[Vault] = []
        self._vault: Vault | None = None

    def config(self, **settings: Any) -> Config:
        """Settings with which every search looks for changed files; any of them may be given otherwise."""
        usual = {
            "model": "none",
            "recursive": True,
            "refresh_seconds": 0,
            "index_dir": self.indexes,
            "cache_dir": self.caches,
            "threads": 1,
        }
        return Config(**{**usual, **settings})

    def open(self, root: Path | None = None, **arguments: Any) -> Vault:
        """Another vault object; settings and arguments of ``Vault`` may be mixed."""
        own = {key: arguments.pop(key) for key in ("embedder", "index", "models", "clock") if key in arguments}
        vault = Vault(root or self.root, self.config(**arguments), **own)
        self._opened.append(vault)
        return vault

    @property
    def vault(self) -> Vault:
        """The vault without a model, opened on first use."""
        if self._vault is None:
            self._vault = self.open()
        return self._vault

    def write(self, path: str | bytes, content: str | bytes) -> Path:
        """Write a card, with its folders; text becomes UTF-8 with its newlines as they are."""
        file = self.root / (path if isinstance(path, str) else path.decode("utf-8", "surrogateescape"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def card(self, id: str) -> CardInfo:
        """What is known of a card, after a sync."""
        self.vault.sync()
        [found] = [card for card in self.vault.cards() if card.id == id]
        return found

    def problems(self, code: str) -> list[Problem]:
        """Problems of one kind that the status tells."""
        return [problem for problem in self.vault.status().problems if problem.code == code]

    def found(self, query: str, **arguments: Any) -> list[str]:
        """Ids of a search, best first."""
        return ids(self.vault.search(query, **arguments))

    def close(self) -> None:
        for vault in self._opened:
            vault.close()


def ids(hits: Hits) -> list[str]:
    return [hit.id for hit in hits]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path.resolve())
    yield shelf
    shelf.close()
