"""All rankers keep one contract."""

from __future__ import annotations

from cogvault.protocols import Ranker
from cogvault.rankers import KeywordRanker, SemanticRanker, TitleRanker
from cogvault.testing import RankerContract


class TestKeyword(RankerContract):
    def make_ranker(self) -> Ranker:
        return KeywordRanker()


class TestSemantic(RankerContract):
    def make_ranker(self) -> Ranker:
        return SemanticRanker()


class TestTitle(RankerContract):
    def make_ranker(self) -> Ranker:
        return TitleRanker()
