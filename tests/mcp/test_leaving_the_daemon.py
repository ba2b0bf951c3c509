"""A server that asks the daemon: when it goes on without, and when not."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from cogvault import Config, Vault
from cogvault.client.connection import NobodyListens, Replaced
from cogvault.errors import DaemonError, VaultError
from cogvault.registry import ModelPool
from cogvault_mcp.memory import ASK_AGAIN_SECONDS, Memory
from cogvault_mcp.server import create_server


class Failing:
    """A vault of a daemon that answers every search with one error."""

    def __init__(self, error: DaemonError) -> None:
        self.error = error
        self.asked = 0

    def search(self, *_: Any, **__: Any) -> None:
        self.asked += 1
        raise self.error

    list = read = search

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(
    ("error", "is_left"),
    [
        (NobodyListens("no daemon answers"), True),
        (Replaced("the daemon is cogvault 99.0.0"), True),
        (DaemonError("256 calls wait already"), False),
    ],
)
def test_only_a_daemon_that_is_gone_is_left(
    example_vault: Path, tmp_path: Path, error: DaemonError, is_left: bool
) -> None:
    remote = Failing(error)
    config = Config(model="none", index_dir=tmp_path / "indexes", state_dir=tmp_path / "state")
    memory = Memory(lambda: Vault(example_vault, config), lambda: remote)  # type: ignore[arg-type,return-value]

    async def ask_tool() -> list[bool]:
        async with Client(create_server(lambda context: memory)) as client:
            answers = [await client.call_tool("cogvault_recall", {"query": "background jobs"}) for _ in range(2)]
            return [bool(answer.is_error) for answer in answers]

    with memory:
        assert anyio.run(ask_tool) == [not is_left] * 2
    assert remote.asked == (1 if is_left else 2)


def test_resources_go_on_without_a_daemon_that_is_gone(example_vault: Path, tmp_path: Path) -> None:
    config = Config(model="none", index_dir=tmp_path / "indexes", state_dir=tmp_path / "state")

    async def ask(memory: Memory) -> None:
        async with Client(create_server(lambda context: memory)) as client:
            assert (await client.list_resources()).resources

    async def read(memory: Memory) -> None:
        async with Client(create_server(lambda context: memory)) as client:
            assert (await client.read_resource("cogvault://resources/reference_oncall.md")).contents

    for use in (ask, read):
        remote = Failing(NobodyListens("no daemon answers"))
        with Memory(lambda: Vault(example_vault, config), lambda remote=remote: remote) as memory:  # type: ignore
            anyio.run(use, memory)
        assert remote.asked == 1


def _local_memory(vault: Path, tmp_path: Path, remotes: list[Any], clock: list[float]) -> Memory:
    """A memory that found no daemon when it was opened."""
    config = Config(model="bundled", index_dir=tmp_path / "indexes", state_dir=tmp_path / "state")
    memory = Memory(
        lambda: Vault(vault, config, models=ModelPool(tmp_path / "cache")),
        lambda: remotes.pop() if remotes else None,
        clock=lambda: clock[0],
    )
    assert isinstance(memory.vault(), Vault)
    return memory


def test_a_daemon_that_is_back_is_used_again_and_the_own_model_let_go(example_vault: Path, tmp_path: Path) -> None:
    remotes: list[Any] = []
    clock = [0.0]
    with _local_memory(example_vault, tmp_path, remotes, clock) as memory:
        own, remote = memory.vault(), Failing(DaemonError("256 calls wait already"))
        remotes.append(remote)
        with memory.call():
            own.search("background jobs")
            assert own.models.in_memory()  # type: ignore[union-attr]
        assert memory.vault() is own
        assert remotes
        clock[0] = ASK_AGAIN_SECONDS
        with memory.call():
            memory.go_to_daemon()
            assert memory.vault() is own  # this call began with it
        remotes.append(remote)
        clock[0] = 2 * ASK_AGAIN_SECONDS
        before = set(threading.enumerate())
        with memory.call():
            pass
        for asking in set(threading.enumerate()) - before:
            asking.join()
        assert memory.vault() is remote
        assert isinstance(own, Vault)
        assert not own.models.in_memory()
        with pytest.raises(VaultError):
            own.search("background jobs")


def test_a_memory_that_was_closed_meanwhile_takes_no_daemon(example_vault: Path, tmp_path: Path) -> None:
    remotes: list[Any] = []
    memory = _local_memory(example_vault, tmp_path, remotes, [0.0])
    memory.close()
    remotes.append(Failing(DaemonError("256 calls wait already")))
    memory.go_to_daemon()
    assert not remotes
