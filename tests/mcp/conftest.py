"""What tests of the MCP server share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.raw import Server, serving


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Home folder of a user who has nothing yet."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def server(example_vault: Path, home: Path) -> Iterator[Server]:
    """A server that has shaken hands, without a model, with its first index, for which a search waits a moment only."""
    with serving(example_vault, home) as server:
        server.initialize()
        server.call("cogvault_browse", limit=1)
        yield server
