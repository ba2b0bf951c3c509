"""A real HTTP server that speaks OpenAI's embeddings API and misbehaves when told to."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast

from cogvault.embedders import HashingEmbedder


@dataclass
class Reply:
    """One prepared answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class EmbeddingServer:
    """Serves on a free port; answers with prepared replies first, then with real vectors."""

    def __init__(self) -> None:
        self.embedder = HashingEmbedder(64)
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.owner = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """The API's base."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def vectors(self, texts: list[str]) -> bytes:
        """A right answer, its items in reverse, as the API allows."""
        rows = self.embedder.embed_documents(texts) * 3.0  # not of unit length: some servers do not normalize
        data = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)]
        return json.dumps({"object": "list", "model": "m", "data": data[::-1]}).encode()

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        owner = cast("EmbeddingServer", self.server.owner)  # type: ignore[attr-defined]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        owner.paths.append(self.path)
        owner.requests.append(request)
        owner.headers.append(dict(self.headers.items()))
        reply = owner.replies.pop(0) if owner.replies else Reply(body=owner.vectors(request["input"]))
        if reply.status == 0:
            self.close_connection = True  # hang up without an answer
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
