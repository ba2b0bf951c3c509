"""What agents wait for and how much memory they cost: daemon, MCP server, tools, hooks, on a vault of cards."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from benchmarks.corpus import ClusterEmbedder
from benchmarks.load import load
from benchmarks.memory import MEGABYTE, memory, watched
from benchmarks.rows import ROOT, Row, note
from benchmarks.words import sentence
from cogvault import Config, Vault
from cogvault.client import RemoteVault, connect
from cogvault.layers.tokens import estimate_tokens
from cogvault.protocols import Embedder
from cogvault.registry import ModelPool

PARTS = ("daemon", "mcp", "hooks", "search")
RUNS = 20


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cards", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the load at a steady rate")
    parser.add_argument("--rate", type=float, default=100.0, help="requests a second of that load, of all clients")
    # The daemon looks at all files each minute, when it takes most: a minute of warmth holds one such look.
    parser.add_argument("--warm", type=float, default=60.0, help="seconds of that load before memory is looked at")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--processes", type=int, default=20, help="MCP servers on one daemon")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"any of {', '.join(PARTS)}")
    parser.add_argument("--work", type=Path, help="folder that keeps the vault and its index for the next run")


def run(args: argparse.Namespace) -> list[Row]:
    parts = args.parts.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        work: Path = args.work or Path(temporary)
        vault = _vault(work / f"vault-{args.cards}", args.cards)
        environment = {
            **os.environ,
            "COGVAULT_MODEL": args.model,
            "COGVAULT_INDEX_DIR": str(work / "indexes"),
            "COGVAULT_CACHE_DIR": str(work / "cache"),
            "COGVAULT_RUNTIME_DIR": str(Path(temporary) / "run"),
        }
        rows: list[Row] = []
        if "mcp" in parts:
            rows += _first_contact(vault, {**environment, "COGVAULT_INDEX_DIR": str(Path(temporary) / "none")})
        note("indexing")
        _index(vault, args.model, work)
        if "mcp" in parts:
            rows += [_model(environment, args.model), *_mcp_memory("mcp_alone", vault, environment, 1, None)]
        with _daemon(environment) as daemon:
            with _remote(vault, environment) as remote:
                remote.sync()
            if "daemon" in parts:
                rows += _load(vault, environment, args, daemon)
            if "search" in parts:
                search = [_program("cogvault"), "search", "--tenant", str(vault), "why did the crew move the harbor"]
                rows.append(
                    Row("default", "search_with_daemon", "wall_s", float(np.median(_walls(search, environment))))
                )
            if "hooks" in parts:
                rows += _hooks(vault, environment)
            if "mcp" in parts:
                rows += _mcp_memory("mcp_with_daemon", vault, environment, args.processes, daemon)
        return rows


def _vault(folder: Path, cards: int) -> Path:
    """Cards of a sentence or two, as agents write them."""
    if not folder.is_dir():
        rng = random.Random(3)
        folder.mkdir(parents=True)
        for number in range(cards):
            title = sentence(rng, 5).rstrip(".")
            text = f"---\ntitle: {title}\ntype: project\n---\n\n# {title}\n\n{sentence(rng, 20)}\n"
            (folder / f"project_{number:06}.md").write_text(text, encoding="utf-8")
    return folder


class _MadeUp(ClusterEmbedder):
    """The model for queries, with made-up vectors of documents: making real ones would take a quarter of an hour."""

    def __init__(self, model: Embedder) -> None:
        super().__init__()
        self.name, self.fingerprint, self.dim, self.max_tokens = (
            model.name,
            model.fingerprint,
            model.dim,
            model.max_tokens,
        )


def _index(vault: Path, model: str, work: Path) -> None:
    embedder = ModelPool(work / "cache").get(model)
    config = Config(model=model, index_dir=work / "indexes", cache_dir=work / "cache")
    with Vault(vault, config, embedder=embedder and _MadeUp(embedder)) as opened:
        opened.sync()


@contextmanager
def _daemon(environment: dict[str, str]) -> Iterator[psutil.Process]:
    process = subprocess.Popen(
        [_program("cogvault"), "daemon"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while subprocess.run(
            [_program("cogvault"), "daemon", "--status"], env=environment, capture_output=True
        ).returncode:
            time.sleep(0.1)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def _remote(vault: Path, environment: dict[str, str]) -> RemoteVault:
    found = connect(vault, environment=environment)
    assert found is not None
    return found


def _load(vault: Path, environment: dict[str, str], args: argparse.Namespace, daemon: psutil.Process) -> list[Row]:
    """At a steady rate, which is the figure; before that all clients as fast as they can, and a while for warmth."""
    note("load")
    load(vault, environment, args.clients, 3.0, None)
    _, private_first = memory(daemon)
    rows = load(vault, environment, args.clients, 15.0, None).rows("full_load", "full_load")
    if args.seconds:
        load(vault, environment, args.clients, args.warm, args.rate)
        before, private_before = memory(daemon)
        with watched(daemon) as series:
            steady = load(vault, environment, args.clients, args.seconds, args.rate)
        after, private_after = memory(daemon)
        rows += steady.rows(str(args.cards), "steady")
        rows += [
            Row("daemon", "steady", "rss_mb", after),
            Row("daemon", "steady", "grown_mb", after - before),
            Row("daemon", "steady", "grown_private_mb", private_after - private_before),
            Row("daemon", "steady", "private_mb_per_minute", series.mb_per_minute()),
            Row("daemon", "from_3_s_of_load", "grown_private_mb", private_after - private_first),
        ]
    return rows


# What the model itself takes, in a process that has imported all that its embedder imports.
_LOAD_MODEL = """
import sys
from pathlib import Path
import psutil
from cogvault.registry import ModelPool
model, cache = sys.argv[1:]
embedder = ModelPool(Path(cache)).get(model)
rss = lambda: psutil.Process().memory_info().rss
before = rss()
if embedder is not None:
    embedder.embed_query("where does the crew keep the tools")
print(rss() - before)
"""


def _model(environment: dict[str, str], model: str) -> Row:
    command = [sys.executable, "-c", _LOAD_MODEL, model, environment["COGVAULT_CACHE_DIR"]]
    told = subprocess.run(command, env=environment, capture_output=True, check=True, cwd=ROOT)
    return Row("default", "model", "rss_mb", int(told.stdout) / MEGABYTE)


class _Server:
    """An MCP server that was greeted."""

    def __init__(self, vault: Path, environment: dict[str, str]) -> None:
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [_program("cogvault-mcp"), "--tenant", str(vault)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        client: dict[str, object] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self.ask("initialize", client)
        self.initialize_seconds = time.perf_counter() - started
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, object]) -> dict[str, object]:
        self._send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == method:
                result: dict[str, object] = answer["result"]
                return result
        raise SystemExit("the MCP server ended")

    def recall(self) -> None:
        self.ask(
            "tools/call", {"name": "cogvault_recall", "arguments": {"query": "where does the crew keep the tools"}}
        )

    def rss(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / MEGABYTE

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _send(self, message: dict[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def _first_contact(vault: Path, environment: dict[str, str]) -> list[Row]:
    """``initialize`` for a vault that has no index yet, and the size of the tools."""
    note("initialize")
    seconds, tokens = [], 0
    for _ in range(5):
        server = _Server(vault, environment)
        seconds.append(server.initialize_seconds)
        tokens = estimate_tokens(json.dumps(server.ask("tools/list", {})["tools"], ensure_ascii=False))
        server.process.kill()
        server.process.wait()
    return [
        Row("default", "initialize", "wall_s", float(np.median(seconds)), len(seconds)),
        Row("default", "tools", "tokens", tokens),
    ]


def _mcp_memory(
    unit: str, vault: Path, environment: dict[str, str], processes: int, daemon: psutil.Process | None
) -> list[Row]:
    """Memory of servers that have answered, and of the daemon behind them when there is one."""
    note(unit)
    servers = [_Server(vault, environment) for _ in range(processes)]
    try:
        for server in servers:
            server.recall()
        rows = [Row("default", unit, "rss_mb", max(server.rss() for server in servers), processes)]
        if daemon is not None:
            rows.append(Row("default", f"daemon_of_{processes}", "rss_mb", memory(daemon)[0]))
            together = [daemon, *(psutil.Process(server.process.pid) for server in servers)]
            rows.append(Row("default", f"daemon_and_{processes}", "pss_mb", sum(map(_share, together))))
        return rows
    finally:
        for server in servers:
            server.close()


def _share(process: psutil.Process) -> float:
    """Memory of a process, where a page that several have counts as a part in each."""
    return float(getattr(process.memory_full_info(), "pss", 0)) / MEGABYTE


def _hooks(vault: Path, environment: dict[str, str]) -> list[Row]:
    rows = []
    for event, unit in (("session-start", "hook_session_start"), ("prompt", "hook_prompt")):
        told = {"session_id": "bench", "cwd": str(vault), "prompt": "where does the crew keep the tools"}
        command = [_program("cogvault"), "hook", event]
        times = _walls(command, {**environment, "COGVAULT_TENANT": str(vault)}, json.dumps(told).encode())
        rows.append(Row("default", unit, "p95_ms", float(np.percentile(times, 95)) * 1000, len(times)))
    return rows


def _walls(command: list[str], environment: dict[str, str], given: bytes = b"") -> list[float]:
    _run(command, environment, given)
    return [_run(command, environment, given) for _ in range(RUNS)]


def _run(command: list[str], environment: dict[str, str], given: bytes = b"") -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, input=given, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
