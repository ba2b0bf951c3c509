"""A server process, driven frame by frame."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from cogvault import estimate_tokens

SECONDS = 60.0
LATEST = "2025-11-25"


class Server:
    """``cogvault-mcp`` over standard input and output.

    Attributes:
        lines: every line of standard output so far, as bytes.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[bytes] = []
        self._queue: Queue[bytes] = Queue()
        self._id = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send_bytes(self, data: bytes) -> None:
        """Write to standard input as it stands."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        """Write one frame."""
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request; its id."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": dict(params or {})})
        return self._id

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    def receive(self, seconds: float = SECONDS) -> dict[str, Any]:
        """The next frame.

        Raises:
            Empty: none came in time.
        """
        message: dict[str, Any] = json.loads(self._queue.get(timeout=seconds))
        return message

    def answer(self, id: int, seconds: float = SECONDS) -> dict[str, Any]:
        """The answer to a request; others are dropped."""
        while (message := self.receive(seconds)).get("id") != id:
            continue
        return message

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        return self.answer(self.request(method, params))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its result."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result: dict[str, Any] = answer["result"]
        return result

    def initialize(self, version: str = LATEST) -> dict[str, Any]:
        """Shake hands."""
        client = {"name": "test", "version": "1"}
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
        self.notify("notifications/initialized")
        return answer

    def is_silent(self, seconds: float = 0.5) -> bool:
        """True when nothing comes for a while."""
        try:
            self.receive(seconds)
        except Empty:
            return True
        return False

    def close(self) -> None:
        """Close standard input and wait until the server has ended by itself."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._queue.put(line)


def text_of(result: Mapping[str, Any]) -> str:
    """The text that a tool gives."""
    return str(result["content"][0]["text"])


def size(result: Mapping[str, Any]) -> int:
    """Tokens of what a client may give a model: the text, or all of the data."""
    data = json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
    return max(estimate_tokens(text_of(result)), estimate_tokens(data))


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Variables of a user of their own."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("COGVAULT_", "PYTHON", "LC_", "LANG"))
    }
    folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
    return {**kept, **folders, "HOME": str(home), "COGVAULT_RUNTIME_DIR": str(home / "run"), **variables}


@contextmanager
def serving(vault: Path, home: Path, *arguments: str, **variables: str) -> Iterator[Server]:
    """A server of this vault, stopped at the end."""
    variables.setdefault("COGVAULT_MODEL", "none")
    with (home / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "cogvault_mcp", "--tenant", str(vault), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment(home, **variables),
        )
    server = Server(process)
    try:
        yield server
    finally:
        server.close()
