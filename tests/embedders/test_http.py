from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from cogvault.embedders import OpenAICompatibleEmbedder
from cogvault.embedders.http_client import find_api_key
from cogvault.errors import ConfigError, ModelError, ModelUnavailable
from tests.embedders.server import EmbeddingServer, Reply

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The environment has no keys; what would be slept is written down."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    return []


def make(server: EmbeddingServer, waits: list[float], model: str = "some-model") -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(f"openai:{model}@{server.url}", timeout_seconds=5.0, sleep=waits.append)


def test_vectors_come_back_in_order_and_normalized(server: EmbeddingServer, waits: list[float]) -> None:
    texts = [f"note {number}" for number in range(5)]
    rows = make(server, waits).embed_documents(texts)
    np.testing.assert_allclose(rows, server.embedder.embed_documents(texts), atol=1e-6)
    assert set(server.paths) == {"/v1/embeddings"}
    assert server.requests[-1] == {"model": "some-model", "input": texts}


def test_the_width_is_asked_for_once(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = make(server, waits)
    assert embedder.fingerprint
    assert server.requests == []
    assert embedder.dim == embedder.dim == 64
    assert len(server.requests) == 1


def test_many_texts_go_in_bounded_batches(server: EmbeddingServer, waits: list[float]) -> None:
    rows = make(server, waits).embed_documents([f"note {number}" for number in range(150)] + ["long " * 30_000] * 2)
    sizes = [len(request["input"]) for request in server.requests]
    assert sizes == [64, 64, 22, 1, 1]
    assert rows.any(axis=1).all()


def test_blank_texts_are_not_sent(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = make(server, waits)
    assert not embedder.embed_documents(["", " \n"]).any()
    assert not embedder.embed_query(" ").any()
    assert len(server.requests) == 1  # the one that asked for the width


def test_known_families_get_their_prefixes(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = make(server, waits, "nomic-embed-text:latest")
    embedder.embed_query("why?")
    embedder.embed_documents(["because"])
    sent = [request["input"] for request in server.requests]
    assert sent == [["search_query: why?"], ["search_document: because"]]


@pytest.mark.parametrize(
    "name", ["openai:m", "openai:@http://x/v1", "openai:m@ftp://x", "m@http://x", "openai:m@http://"]
)
def test_another_form_of_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="openai:MODEL@URL"):
        OpenAICompatibleEmbedder(name)


def test_a_url_with_a_password_is_refused() -> None:
    with pytest.raises(ConfigError, match="password") as caught:
        OpenAICompatibleEmbedder("openai:m@http://me:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


def test_a_full_endpoint_is_taken_as_its_base(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = OpenAICompatibleEmbedder(f"openai:org/m@{server.url}/embeddings/")
    assert embedder.dim == 64
    assert server.paths == ["/v1/embeddings"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(status: int, server: EmbeddingServer, waits: list[float]) -> None:
    server.replies = [Reply(status, b"later", {"Retry-After": "3"}), Reply(status), Reply(0)]
    assert make(server, waits).dim == 64
    assert waits == [3.0, 1.0, 2.0]


def test_trying_again_ends(server: EmbeddingServer, waits: list[float]) -> None:
    server.replies = [Reply(503, b"overloaded", {"Retry-After": "9999"})] * 9
    with pytest.raises(ModelUnavailable, match=r"503.*overloaded"):
        make(server, waits).embed_query("text")
    assert waits == [20.0, 20.0, 20.0]


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(401, b'{"error": "bad key"}'), ModelUnavailable, "401"),
        (Reply(404, b"no such model"), ModelUnavailable, "no such model"),
        (Reply(400, b"input too long"), ModelError, "input too long"),
        (Reply(200, b"<html>Hello"), ModelError, "something else than JSON"),
        (Reply(200, b"[]"), ModelError, "no list of embeddings"),
        (Reply(200, b'{"error": "x"}'), ModelError, "no list of embeddings"),
        (Reply(200, b'{"data": []}'), ModelError, "no list of embeddings"),
        (Reply(200, b'{"data": [{"index": 0, "embedding": []}]}'), ModelError, "no list of embeddings"),
        (Reply(200, b'{"data": [{"index": 0, "embedding": [1, null]}]}'), ModelError, "no list of embeddings"),
        (Reply(200, b'{"data": [{"index": 0, "embedding": "AAAA"}]}'), ModelError, "no list of embeddings"),
        (Reply(200, b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), ModelError, "no list of embeddings"),
    ],
)
def test_a_wrong_answer_is_an_error_at_once(
    reply: Reply, kind: type[ModelError], words: str, server: EmbeddingServer, waits: list[float]
) -> None:
    server.replies = [reply]
    with pytest.raises(ModelError, match=words) as caught:
        make(server, waits).embed_query("text")
    assert type(caught.value) is kind
    assert server.url in str(caught.value.path)
    assert waits == []


def test_a_changed_width_is_an_error(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = make(server, waits)
    assert embedder.dim == 64
    server.replies = [Reply(200, json.dumps({"data": [{"index": 0, "embedding": [1.0] * 8}]}).encode())]
    with pytest.raises(ModelError, match="8 numbers a vector instead of 64"):
        embedder.embed_query("text")


def test_a_server_that_nobody_runs_is_not_waited_for(waits: list[float]) -> None:
    with EmbeddingServer() as stopped:
        pass
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        make(stopped, waits).embed_query("text")
    assert waits == []


def test_a_server_that_comes_up_later_is_found(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = make(server, waits)
    server.replies = [Reply(404)]
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("text")
    assert embedder.embed_query("text").any()


def test_the_key_is_sent_and_shown_nowhere(
    server: EmbeddingServer, waits: list[float], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("COGVAULT_OPENAI_API_KEY", KEY)
    embedder = make(server, waits)
    server.replies = [Reply(500), Reply(400, b"no")]
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        embedder.embed_query("text")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    shown = f"{caught.value!r} {caught.value} {embedder!r} {embedder.fingerprint} {caplog.text} {embedder._client!r}"  # noqa: SLF001
    assert KEY not in shown


def test_openais_key_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert find_api_key("https://api.openai.com/v1") == KEY
    assert find_api_key("http://localhost:11434/v1") is None
    assert find_api_key("https://api.openai.com.evil.example/v1") is None
    monkeypatch.setenv("COGVAULT_OPENAI_API_KEY", "own")
    assert find_api_key("http://localhost:11434/v1") == "own"


def test_a_redirect_is_not_followed(
    server: EmbeddingServer, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGVAULT_OPENAI_API_KEY", KEY)
    with EmbeddingServer() as other:
        server.replies = [Reply(307, headers={"Location": f"{other.url}/embeddings"})]
        with pytest.raises(ModelError, match="307"):
            make(server, waits).embed_query("text")
        assert other.requests == []


def test_counts_are_estimates_of_plausible_size(server: EmbeddingServer, waits: list[float]) -> None:
    embedder = make(server, waits)
    assert embedder.count_tokens(["", "four", "twelve chars", "设备清单"]) == [0, 1, 3, 4]
    assert server.requests == []
