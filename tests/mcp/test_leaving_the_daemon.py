"""A server that asks the daemon: when it goes on without, and when not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from cogvault import Config, Vault
from cogvault.client.connection import NobodyListens
from cogvault.errors import DaemonError
from cogvault_mcp.memory import Memory
from cogvault_mcp.server import create_server


class Failing:
    """A vault of a daemon that answers every search with one error."""

    def __init__(self, error: DaemonError) -> None:
        self.error = error
        self.asked = 0

    def search(self, *_: Any, **__: Any) -> None:
        self.asked += 1
        raise self.error

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(
    ("error", "is_left"), [(NobodyListens("no daemon answers"), True), (DaemonError("256 calls wait already"), False)]
)
def test_only_a_daemon_that_is_gone_is_left(
    example_vault: Path, tmp_path: Path, error: DaemonError, is_left: bool
) -> None:
    remote = Failing(error)
    config = Config(model="none", index_dir=tmp_path / "indexes", state_dir=tmp_path / "state")
    memory = Memory(lambda: Vault(example_vault, config), lambda: remote)  # type: ignore[arg-type,return-value]

    async def ask() -> list[bool]:
        async with Client(create_server(lambda context: memory)) as client:
            answers = [await client.call_tool("cogvault_recall", {"query": "background jobs"}) for _ in range(2)]
            return [bool(answer.is_error) for answer in answers]

    with memory:
        assert anyio.run(ask) == [not is_left] * 2
    assert remote.asked == (1 if is_left else 2)
