"""All summarizers keep one contract."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from cogvault.embedders.http_client import JsonClient
from cogvault.layers.cache import SummaryCache
from cogvault.layers.chat import ChatModel, chat_address
from cogvault.layers.summarizers import ExtractiveSummarizer, LLMSummarizer
from cogvault.protocols import Summarizer
from cogvault.testing import ModelSummarizerContract, SummarizerContract
from tests.layers.chat_server import ChatServer, chat_server, completion


class TestExtractive(SummarizerContract):
    def make_summarizer(self) -> Summarizer:
        return ExtractiveSummarizer()


class TestLLM(ModelSummarizerContract):
    @pytest.fixture(autouse=True)
    def _servers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        self.files = (tmp_path / f"{number}.sqlite" for number in count())
        answer = (200, completion("The team moved the queue."))
        with chat_server(answer) as self.server, chat_server(None) as self.broken:
            yield

    def make_summarizer(self) -> Summarizer:
        return self._on(self.server)

    def make_broken_summarizer(self) -> Summarizer:
        return self._on(self.broken)

    def _on(self, server: ChatServer) -> Summarizer:
        client = JsonClient(chat_address(server.url), None, 5.0, lambda _: None)
        return LLMSummarizer(ChatModel("tiny", "http://localhost/v1", client), SummaryCache(next(self.files)))
