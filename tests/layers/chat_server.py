"""A real HTTP server that speaks OpenAI's chat API and misbehaves when told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def completion(text: object, finish: str = "stop") -> bytes:
    """The document of one answer."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"id": "c1", "object": "chat.completion", "model": "tiny", "choices": [choice]}).encode()


@dataclass
class ChatServer:
    """What was asked, and what to answer next: (status, body), the last one for ever; None hangs up."""

    url: str
    replies: list[tuple[int, bytes] | None]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    # Lets an answer wait until the test is over, for clients that run out of patience.
    hold: threading.Event | None = None


@contextmanager
def chat_server(*replies: tuple[int, bytes] | None) -> Iterator[ChatServer]:
    state = ChatServer("", list(replies) or [(200, completion("A summary."))])
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: state))
    http.daemon_threads = True
    state.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        if state.hold:
            state.hold.set()
        http.shutdown()
        http.server_close()
        thread.join()


def _handler(state: Callable[[], ChatServer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server = state()
            server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            server.headers.append(dict(self.headers.items()))
            server.paths.append(self.path)
            reply = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
            if server.hold:
                server.hold.wait(10)
            if reply is None:
                self.close_connection = True
                return
            # A client that ran out of patience is gone by now.
            with suppress(ConnectionError):
                self.send_response(reply[0])
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply[1])))
                self.end_headers()
                self.wfile.write(reply[1])

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler
