"""The words that some models expect before a text, by family."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Prefixes(NamedTuple):
    """What is put before a query and before a document."""

    query: str = ""
    document: str = ""


_SEARCH: Final = "Represent this sentence for searching relevant passages: "
# As the models' cards say. Patterns meet the last part of a name: "intfloat/multilingual-e5-small",
# "hf.co/someone/e5-base-v2-GGUF:Q8_0" and a folder of that name are one family.
_FAMILIES: Final = (
    (re.compile(r"(^|[_-])e5[_-](?!.*instruct)"), Prefixes("query: ", "passage: ")),
    (re.compile(r"nomic-embed-text"), Prefixes("search_query: ", "search_document: ")),
    (re.compile(r"embeddinggemma"), Prefixes("task: search result | query: ", "title: none | text: ")),
    (re.compile(r"snowflake-arctic-embed2|arctic-embed-.*-v2"), Prefixes("query: ")),
    (re.compile(r"mxbai-embed|arctic-embed|bge-(small|base|large)-en$"), Prefixes(_SEARCH)),
)


def prefixes_for(model: str) -> Prefixes:
    """Prefixes of a model by its name; none for a family that is not known."""
    last = model.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1].lower()
    return next((prefixes for pattern, prefixes in _FAMILIES if pattern.search(last)), Prefixes())
