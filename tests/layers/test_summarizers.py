from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cogvault.embedders.http_client import JsonClient, find_api_key
from cogvault.layers.cache import SummaryCache
from cogvault.layers.chat import ChatModel, chat_address
from cogvault.layers.overview import MAX_TOKENS
from cogvault.layers.summarizers import ExtractiveSummarizer, LLMSummarizer
from cogvault.layers.tokens import estimate_tokens
from cogvault.protocols import Summarizer
from tests.layers.chat_server import ChatServer, chat_server, completion
from tests.layers.support import card

BODY = "\n\n".join(
    f"Paragraph {number} tells of the queue and of what the team decided about worker {number}." for number in range(12)
)
CARD = card(BODY, "Queue")
PLAIN = ExtractiveSummarizer().summarize(CARD)
OK = (200, completion("A summary."))


@pytest.fixture(autouse=True)
def direct_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def summarizer(
    server: ChatServer,
    folder: Path,
    *,
    model: str = "tiny",
    timeout_seconds: float = 5.0,
    clock: Callable[[], float] | None = None,
) -> LLMSummarizer:
    client = JsonClient(chat_address(server.url), find_api_key(server.url), timeout_seconds, lambda _: None)
    return LLMSummarizer(
        ChatModel(model, server.url, client), SummaryCache(folder / "s" / "summaries.sqlite"), clock=clock or Clock()
    )


def test_the_extractive_summarizer_makes_both_layers() -> None:
    one: Summarizer = ExtractiveSummarizer()
    assert one.summarize(CARD) == PLAIN
    assert PLAIN.abstract
    assert "## Key points" in PLAIN.overview
    assert PLAIN.notes == ()
    one.forget("card.md")
    assert one.fingerprint == ExtractiveSummarizer().fingerprint


def test_a_model_writes_both_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGVAULT_OPENAI_API_KEY", "key-1")
    with chat_server((200, completion(" Short. ")), (200, completion("## Outline\n\n- Queue"))) as server:
        found = summarizer(server, tmp_path).summarize(CARD)
    assert (found.abstract, found.overview, found.notes) == ("Short.", "## Outline\n\n- Queue", ())
    assert server.paths == ["/v1/chat/completions"] * 2
    assert server.headers[0]["Authorization"] == "Bearer key-1"
    request = server.requests[0]
    assert (request["model"], request["temperature"], request["stream"]) == ("tiny", 0, False)
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert BODY in request["messages"][1]["content"]


def test_unchanged_content_is_never_summarized_twice(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        first = summarizer(server, tmp_path).summarize(CARD)
        again = summarizer(server, tmp_path).summarize(CARD)
        assert again == first
        assert len(server.requests) == 2


def test_a_moved_card_keeps_its_summary(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        one = summarizer(server, tmp_path)
        one.summarize(CARD)
        one.summarize(replace(CARD, id="moved.md"))
        one.forget("card.md")
        one.summarize(replace(CARD, id="moved.md"))
        assert len(server.requests) == 2


@pytest.mark.parametrize("change", ["body", "model"])
def test_other_content_and_another_model_are_asked_anew(tmp_path: Path, change: str) -> None:
    with chat_server(OK) as server:
        summarizer(server, tmp_path).summarize(CARD)
        other = card(BODY + " More.", "Queue") if change == "body" else CARD
        summarizer(server, tmp_path, model="tiny" if change == "body" else "other").summarize(other)
        assert len(server.requests) == 4


def test_what_is_kept_of_a_renamed_card_is_all_of_the_new_one(tmp_path: Path) -> None:
    with chat_server((200, completion("the launch code is 0000"))) as server:
        one = summarizer(server, tmp_path)
        one.summarize(CARD)
        one.rename("card.md", "moved.md")
        one.forget("card.md")
        one.summarize(replace(CARD, id="moved.md"))
        assert len(server.requests) == 2
        one.forget("moved.md")
    assert not any(b"launch code" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_forgetting_leaves_no_byte_of_the_summary(tmp_path: Path) -> None:
    with chat_server((200, completion("the launch code is 0000"))) as server:
        one = summarizer(server, tmp_path)
        one.summarize(CARD)
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert any(b"launch code" in path.read_bytes() for path in files)
        one.forget("card.md")
    assert not any(b"launch code" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("body", [BODY + " Edited.", "Now short."])
def test_an_edit_drops_what_was_kept_of_the_old_text(tmp_path: Path, body: str) -> None:
    with chat_server((200, completion("the launch code is 0000")), (200, completion("b")), OK) as server:
        one = summarizer(server, tmp_path)
        one.summarize(CARD)
        one.summarize(card(body, "Queue"))
    assert not any(b"launch code" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_short_card_is_never_sent(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        assert summarizer(server, tmp_path).summarize(card("Just this.")).abstract == "Just this."
        assert server.requests == []


def test_a_long_card_is_cut_for_the_model(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        summarizer(server, tmp_path).summarize(card("word " * 100_000))
        assert estimate_tokens(server.requests[0]["messages"][1]["content"]) <= 8_100


def test_an_answer_is_held_to_its_layer(tmp_path: Path) -> None:
    with chat_server((200, completion("word " * 5_000))) as server:
        found = summarizer(server, tmp_path).summarize(CARD)
    assert estimate_tokens(found.abstract) <= 200
    assert estimate_tokens(found.overview) <= MAX_TOKENS
    assert len(found.overview) <= len(BODY)


@pytest.mark.parametrize(
    "reply",
    [
        (500, b"boom"),
        (401, b"no"),
        (302, b""),
        None,
        (200, b"no json"),
        (200, completion("half")[:-20]),
        (200, b"{}"),
        (200, b'{"choices": []}'),
        (200, b'{"choices": [null]}'),
        (200, completion(None)),
        (200, completion("  ")),
        (200, completion("cut off in the mid", "length")),
    ],
)  # fmt: skip
def test_a_failing_model_falls_back_and_says_so(tmp_path: Path, reply: tuple[int, bytes] | None) -> None:
    with chat_server(reply) as server:
        found = summarizer(server, tmp_path).summarize(CARD)
    assert (found.abstract, found.overview) == (PLAIN.abstract, PLAIN.overview)
    assert len(found.notes) == 2
    assert found.notes[0].startswith("abstract extracted, because tiny gave none: ")


def test_a_model_that_takes_too_long_falls_back(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        server.hold = threading.Event()
        found = summarizer(server, tmp_path, timeout_seconds=0.05).summarize(CARD)
    assert found.abstract == PLAIN.abstract
    assert "timed out" in found.notes[0]


def test_no_server_at_all_falls_back(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        gone = summarizer(server, tmp_path)
    assert len(gone.summarize(CARD).notes) == 2


def test_a_fallback_is_not_kept(tmp_path: Path) -> None:
    with chat_server((401, b""), OK) as server:
        assert summarizer(server, tmp_path).summarize(CARD).notes
        assert summarizer(server, tmp_path).summarize(CARD).abstract == "A summary."


def test_one_failing_layer_leaves_the_other(tmp_path: Path) -> None:
    with chat_server((200, completion(None)), OK) as server:
        found = summarizer(server, tmp_path).summarize(CARD)
    assert (found.abstract, found.overview) == (PLAIN.abstract, "A summary.")
    assert len(found.notes) == 1


def test_a_model_that_is_gone_is_left_alone_for_a_while_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with caplog.at_level(logging.WARNING), chat_server((401, b"")) as server:
        one = summarizer(server, tmp_path, clock=clock)
        for _ in range(5):
            assert one.summarize(CARD).abstract == PLAIN.abstract
        assert len(server.requests) == 2
        assert len(caplog.records) == 1
        clock.now = 61.0
        server.replies[:] = [OK]
        assert one.summarize(CARD).notes == ()
        server.replies[:] = [(401, b"")]
        one.summarize(card(BODY + " Edited.", "Queue"))
    assert len(caplog.records) == 2


def test_a_damaged_cache_is_thrown_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "s" / "summaries.sqlite"
    file.parent.mkdir()
    file.write_text("this is no database, but long enough to look at" * 50)
    with caplog.at_level(logging.WARNING), chat_server(OK) as server:
        one = summarizer(server, tmp_path)
        assert one.summarize(CARD).notes == ()
        one.summarize(CARD)
        assert len(server.requests) == 2
    assert "damaged" in caplog.text


def test_a_cache_that_cannot_be_written_costs_only_the_keeping(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "s").write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING), chat_server(OK) as server:
        assert summarizer(server, tmp_path).summarize(CARD).abstract == "A summary."
    assert "cannot be used" in caplog.text


def test_threads_share_one_cache(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        one = summarizer(server, tmp_path)
        cards = [card(f"{BODY} Number {number}.", f"Queue {number}") for number in range(8)]
        found: list[str] = []
        threads = [threading.Thread(target=lambda c=c: found.append(one.summarize(c).abstract)) for c in cards]  # type: ignore[misc]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["A summary."] * 8


def test_the_fingerprint_names_model_and_server(tmp_path: Path) -> None:
    with chat_server(OK) as server:
        one, other = summarizer(server, tmp_path), summarizer(server, tmp_path, model="other")
        assert one.fingerprint != other.fingerprint
        assert server.url in one.fingerprint
        assert ChatModel("m", "http://h/v1", None).name == ChatModel("m", "http://h/v1/", None).name  # type: ignore[arg-type]
