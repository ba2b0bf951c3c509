"""The shipped suites catch the mistakes they are for."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogvault.cards import MarkdownCardParser
from cogvault.errors import SnapshotExpired
from cogvault.indexes.filters import matches
from cogvault.layers.summarizers import ExtractiveSummarizer
from cogvault.protocols import CardParser, Ranker, Snapshot, Summarizer
from cogvault.rankers import KeywordRanker
from cogvault.testing import ModelSummarizerContract, ParserContract, RankerContract, SummarizerContract
from cogvault.types import Card, Filter, Query, Ranking, Summary
from tests.docs.fences import ROOT, fences, run_python


def fails(check: Callable[[], None]) -> None:
    with pytest.raises((AssertionError, ValueError, OSError, SnapshotExpired)):
        check()


class Strict(MarkdownCardParser):
    """Gives up on what is no UTF-8, and looks at the disk."""

    def parse(self, data: bytes, *, id: str, path: str) -> Card:
        data.decode()
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read()
        except FileNotFoundError:
            pass
        return super().parse(data, id=id, path=path)


class OnStrict(ParserContract):
    def make_parser(self) -> CardParser:
        return Strict()


def test_a_parser_that_raises_or_reads_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = OnStrict()
    fails(suite.test_what_is_wrong_is_a_problem_and_the_text_stays)
    with monkeypatch.context() as patch:
        fails(lambda: suite.test_no_file_is_opened(tmp_path, patch))
    fails(suite.test_no_content_raises)


class Careless(KeywordRanker):
    """Filters after the limit and keeps its first answer."""

    def __init__(self) -> None:
        self._kept: Ranking | None = None

    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        if self._kept is None:
            self._kept = super().rank(snapshot, query, Filter(), limit)
        allowed = {card.id for card in snapshot.cards if matches(card, filter)}
        keep = [stored.card in allowed for stored in snapshot.chunks(self._kept.chunks.tolist())]
        return Ranking(self._kept.chunks[keep], self._kept.scores[keep])


class OnCareless(RankerContract):
    def make_ranker(self) -> Ranker:
        return Careless()


class Backwards(KeywordRanker):
    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        best = super().rank(snapshot, query, filter, limit)
        return Ranking(best.chunks[::-1].copy(), best.scores[::-1].copy())


class OnBackwards(RankerContract):
    def make_ranker(self) -> Ranker:
        return Backwards()


class Blind(KeywordRanker):
    def rank(self, snapshot: Snapshot, query: Query, filter: Filter, limit: int) -> Ranking:
        return Ranking(np.empty(0, np.int64), np.empty(0, np.float32))


class OnBlind(RankerContract):
    def make_ranker(self) -> Ranker:
        return Blind()


def test_a_ranker_that_cuts_too_early_keeps_or_turns_its_answer_is_caught() -> None:
    fails(lambda: OnCareless().test_a_filter_holds_before_the_limit(Filter(paths=("work/deep",))))
    fails(OnCareless().test_a_change_is_followed_and_an_older_view_stays_as_it_was)
    fails(OnBackwards().test_a_ranking_is_chunks_of_the_snapshot_best_first)
    fails(OnBackwards().test_a_limit_cuts_the_end_off)
    fails(OnBlind().test_a_ranking_is_chunks_of_the_snapshot_best_first)


class Chatty(ExtractiveSummarizer):
    """Asks in its draft, raises without a network, and mixes cards up."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = ""

    def draft(self, card: Card) -> Summary:
        return self.summarize(card)

    def summarize(self, card: Card) -> Summary:
        self._seen += card.title
        with socket.socket() as line:
            line.settimeout(0.01)
            line.connect(("127.0.0.1", 9))
        return super().summarize(card)


class Mixing(ExtractiveSummarizer):
    def __init__(self) -> None:
        super().__init__()
        self._first: Summary | None = None

    def summarize(self, card: Card) -> Summary:
        self._first = self._first or super().summarize(card)
        return self._first


class OnChatty(ModelSummarizerContract):
    def make_summarizer(self) -> Summarizer:
        return Mixing()

    def make_broken_summarizer(self) -> Summarizer:
        return Chatty()


class OnMixing(SummarizerContract):
    def make_summarizer(self) -> Summarizer:
        return Mixing()


class OnAsking(SummarizerContract):
    def make_summarizer(self) -> Summarizer:
        return Chatty()


def test_a_summarizer_that_asks_raises_or_mixes_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        fails(lambda: OnAsking().test_a_draft_needs_no_network(patch))
    fails(OnChatty().test_a_model_that_fails_costs_nothing_but_a_note)
    fails(OnChatty().test_a_draft_says_what_the_model_would_make_better)
    fails(OnMixing().test_a_card_leaves_no_words_in_the_layers_of_another)
    fails(OnMixing().test_an_edit_is_followed)


def test_the_implementation_of_the_guide_passes() -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    for fence in fences(ROOT / "docs" / "how-to" / "test-an-implementation.md"):
        if fence.language == "python":
            run_python(fence, names)
    suite = names["TestSynonymRanker"]()
    checks = [name for name in dir(suite) if name.startswith("test_")]
    plain = [name for name in checks if not hasattr(getattr(suite, name), "pytestmark")]
    assert len(plain) >= 10
    for name in plain:
        getattr(suite, name)()
