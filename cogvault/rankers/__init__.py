"""Ways of finding candidates: by keyword, by meaning, by title."""

from cogvault.rankers.keyword import KeywordRanker
from cogvault.rankers.semantic import SemanticRanker
from cogvault.rankers.title import TitleRanker

__all__ = ["KeywordRanker", "SemanticRanker", "TitleRanker"]
