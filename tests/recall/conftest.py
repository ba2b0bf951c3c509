from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cogvault import Config, Vault

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
Open = Callable[..., Vault]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty vault."""
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def open_vault(folder: Path, tmp_path: Path) -> Iterator[Open]:
    """Opens the vault without a model, on 2026-06-01; settings may be given. Every search looks for changed files."""
    usual = {
        "model": "none",
        "recursive": True,
        "refresh_seconds": 0,
        "index_dir": tmp_path / "indexes",
        "cache_dir": tmp_path / "caches",
    }
    with ExitStack() as opened:
        yield lambda **settings: opened.enter_context(
            Vault(folder, Config.model_validate({**usual, **settings}), clock=lambda: NOW)
        )


def write(folder: Path, path: str, text: str, **frontmatter: Any) -> None:
    """A card with its folders; frontmatter as keys."""
    head = "".join(f"{key}: {value}\n" for key, value in frontmatter.items())
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{head}---\n\n{text}\n" if head else f"{text}\n", encoding="utf-8")
