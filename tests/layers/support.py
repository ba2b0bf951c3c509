"""Cards for the tests of layers."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cogvault.layers.abstract import make_abstract
from cogvault.layers.digest import digest
from cogvault.layers.overview import make_overview
from cogvault.types import Card


def card(body: str, title: str = "A card", **fields: Any) -> Card:
    return Card(id="card.md", path="card.md", title=title, body=body, **fields)


def abstract_of(body: str, title: str = "A card", **fields: Any) -> str:
    return make_abstract(card(body, title, **fields), digest(title, body))


def overview_of(body: str, title: str = "A card", **fields: Any) -> str:
    return make_overview(card(body, title, **fields), digest(title, body))


WORDS = [
    *("postgres", "queue", "worker", "decided", "because", "latency", "index", "vault", "memory", "retry", "cache"),
    *("Mara", "Wei", "токен", "черга", "рішення", "数据库", "决定", "größe", "naïve", "2026-05-08", "svc_payments"),
]

sentence = st.lists(st.sampled_from(WORDS), min_size=3, max_size=14).map(
    lambda words: " ".join(words).capitalize() + "."
)
paragraph = st.lists(sentence, min_size=1, max_size=6).map(" ".join)
block = st.one_of(
    paragraph,
    sentence.map(lambda text: f"- {text}"),
    sentence.map(lambda text: f"- [ ] {text}"),
    sentence.map(lambda text: f"## {text[:30]}"),
    sentence.map(lambda text: f"**Mara**: {text}"),
    sentence.map(lambda text: f"> {text}"),
    sentence.map(lambda text: f"```\n{text}\n```"),
)
body = st.lists(block, min_size=0, max_size=40).map("\n\n".join)
# Anything at all, mostly made of what Markdown gives a meaning to.
hostile = st.text(
    alphabet=st.one_of(st.sampled_from("\n \t#*-`~>|[]().!?:_=xTODO9年月日“”「」а"), st.characters()), max_size=400
)
