"""Ways of finding candidates (by keyword, by meaning, by title), and of ordering the best again."""

from cogvault.rankers.cross_encoder import CrossEncoder
from cogvault.rankers.keyword import KeywordRanker
from cogvault.rankers.semantic import SemanticRanker
from cogvault.rankers.title import TitleRanker

__all__ = ["CrossEncoder", "KeywordRanker", "SemanticRanker", "TitleRanker"]
