"""Claude Code itself, with the plugin and a made-up model: what hooks say reaches the model, what was said is kept."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SECONDS = 120.0
PROMPT = "Are builds pushed to the registry from laptops?"
ANSWER = "Only the pipeline pushes them."


class Model(ThreadingHTTPServer):
    """Answers every request of the Messages API with one sentence.

    Attributes:
        asked: bodies of all requests.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events())
        self._send("text/event-stream", events.encode())

    def do_GET(self) -> None:
        self._send("application/json", b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: standard error is the test's."""

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _events() -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "made-up",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def wait_for_daemon(environment: Mapping[str, str]) -> None:
    end = time.monotonic() + SECONDS
    while subprocess.run(["cogvault", "daemon", "--status"], env=environment, capture_output=True).returncode:
        assert time.monotonic() < end, "the daemon did not come up"


@pytest.fixture
def claude(programs: Path, user: Mapping[str, str], model: Model, example_vault: Path) -> Iterator[Any]:
    """Runs Claude Code as somebody who installed the plugin, with a daemon."""
    environment = {
        **user,
        "COGVAULT_TENANT": str(example_vault),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
        "ANTHROPIC_API_KEY": "made-up",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    project = Path(user["HOME"]) / "project"
    project.mkdir()

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [programs / "claude", *arguments],
            env=environment,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    plugin = subprocess.run(["cogvault-mcp", "--plugin"], env=environment, capture_output=True, text=True, check=True)
    run("plugin", "validate", plugin.stdout.strip())
    run("plugin", "marketplace", "add", plugin.stdout.strip())
    run("plugin", "install", "cogvault@cogvault")
    daemon = subprocess.Popen(["cogvault", "daemon"], env=environment, stderr=subprocess.PIPE)
    try:
        wait_for_daemon(environment)
        yield run
    finally:
        daemon.terminate()
        daemon.communicate(timeout=SECONDS)


def test_the_plugin_brings_memory(claude: Any, model: Model, example_vault: Path) -> None:
    assert "Connected" in claude("mcp", "list")
    end = time.monotonic() + SECONDS
    while "Long-term memory (cogvault)" not in json.dumps(model.asked):
        assert time.monotonic() < end, "no session was told of memory"  # one is not when the machine is busy
        assert ANSWER in claude("-p", PROMPT)
    assert "cogvault:remember" in json.dumps(model.asked)
    # Claude Code does not wait for the hook of its end, which goes on by itself.
    while ANSWER not in (kept := said(example_vault)):
        assert time.monotonic() < end, kept
    assert PROMPT in kept


def said(vault: Path) -> str:
    """All that the vault's sessions hold."""
    return "".join(file.read_text(encoding="utf-8") for file in sorted((vault / "session").rglob("*.md")))
