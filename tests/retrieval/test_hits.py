from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

import pytest

from cogvault.retrieval.hits import Hits, Part, Stage, Trace
from cogvault.retrieval.notebook import GAIN, ORDER, PENALTY
from cogvault.types import Status, to_json
from tests.retrieval.values import NOW, hit


def answer(**fields: object) -> Hits:
    made = Hits((hit(), hit(id="b.md", score=0.3)), Status.OK, Trace("the query", stages=(Stage("scores", 2, 0.5),)))
    return replace(made, **fields)  # type: ignore[arg-type]


def test_fields_are_readable_by_key() -> None:
    assert hit(score=0.25)["score"] == 0.25
    assert hit()["lines"] == (3, 5)


@pytest.mark.parametrize("key", ["scores", "to_dict", "__class__", ""])
def test_an_unknown_key_is_a_key_error(key: str) -> None:
    with pytest.raises(KeyError) as caught:
        hit()[key]
    assert caught.value.args == (key,)


def test_a_citation_names_file_and_lines() -> None:
    assert hit().citation == "notes/a.md#L3-L5"
    assert hit(lines=(7, 7)).citation == "notes/a.md#L7"


def test_an_answer_is_a_sequence_of_hits() -> None:
    found = answer()
    assert [item.id for item in found] == ["notes/a.md", "b.md"]
    assert len(found) == 2
    assert found[-1].id == "b.md"
    assert [item.id for item in found[:1]] == ["notes/a.md"]
    assert not Hits((), Status.EMPTY, Trace("q"))


def test_an_answer_is_json() -> None:
    explained = hit(parts=(Part("L2", "keyword", 0.5, 0.2),), at=NOW, speaker="Ana", related=("b.md",))
    found = answer(items=(explained,), near_misses=(hit(),), text="packed", tokens=3)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["status"] == "ok"
    assert document["hits"][0]["created"] == "2026-06-01T12:00:00+00:00"
    assert document["hits"][0]["citation"] == "notes/a.md#L3-L5"
    assert document["hits"][0]["parts"] == [{"layer": "L2", "name": "keyword", "value": 0.5, "contribution": 0.2}]
    assert document["hits"][0]["lines"] == [3, 5]
    assert document["near_misses"][0]["id"] == "notes/a.md"
    assert document["trace"]["stages"] == [{"name": "scores", "count": 2, "ms": 0.5}]


def test_values_of_this_package_become_plain_json() -> None:
    given_value = {"when": datetime(2026, 5, 1, tzinfo=UTC), "path": PurePosixPath("a/b"), 3: (Status.OK, None, True)}
    assert to_json(given_value) == {"when": "2026-05-01T00:00:00+00:00", "path": "a/b", "3": ["ok", None, True]}


@pytest.mark.parametrize("field", ["title", "snippet", "file"])
def test_a_notebook_shows_text_as_text(field: str) -> None:
    attack = "<script>alert('&')</script>"
    html = answer(items=(hit(**{field: attack}),))._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_notebook_shows_query_and_reason_as_text() -> None:
    assert "<b>q" not in answer(trace=Trace("<b>q"))._repr_html_()
    assert "<b>why" not in answer(status=Status.DEGRADED, reason="<b>why")._repr_html_()


def test_a_notebook_shows_bars_only_when_explained() -> None:
    assert "<th>parts</th>" not in answer()._repr_html_()
    html = answer(items=(hit(parts=(Part("L2", "keyword", 0.5, 0.2), Part("factor", "age", 0.5, -0.1))),))._repr_html_()
    assert "<th>parts</th>" in html
    assert "width:40px" in html
    assert "-0.100" in html
    assert "width:-" not in html


def test_a_notebook_tells_values_penalties_and_how_it_was_found() -> None:
    parts = (Part("L2", "keyword", 0.73, 0.2), Part("factor", "age", 0.5, -0.1), Part("order", "rerank", 0.9, 0.0))
    trace = Trace(
        "q", ("wombat",), "user scope", "type: <user>", (Stage("candidates", 17, 1.25),), notes=("cut & short",)
    )
    html = answer(items=(hit(parts=parts, valid="expired"),), trace=trace)._repr_html_()
    for told in ("0.73", "expired", "user scope", "type: &lt;user&gt;", "wombat", "1.2 ms, 17 left", "cut &amp; short"):
        assert told in html
    widths = re.findall(r"background:(#\w+);width:(\d+)px", html)
    assert widths == [(GAIN, "40"), (PENALTY, "20"), (ORDER, "180")]
    assert "<details open>" in html


def test_a_notebook_explains_near_misses() -> None:
    near = (hit(title="Nearly", parts=(Part("L2", "keyword", 0.1, 0.1),)),)
    html = answer(items=(), status=Status.EMPTY, near_misses=near)._repr_html_()
    assert "Nearly" in html
    assert "+0.100" in html
    assert "Nearly" not in answer(items=(), near_misses=(hit(title="Nearly"),))._repr_html_()
