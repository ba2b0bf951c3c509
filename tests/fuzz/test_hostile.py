"""Hostile input: no crash, no hang, bounded results, for whatever reads what people and programs send."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogvault.cards import frontmatter
from cogvault.cards.link_spans import find_links
from cogvault.cards.markdown import MarkdownCardParser
from cogvault.embedders.estimate import estimate_tokens
from cogvault.indexing.ignore import IgnoreRules
from cogvault.text.normalise import fold, visible
from cogvault.text.queries import MAX_QUERY_WORDS, query_terms, query_words
from cogvault.text.sentences import sentences
from tests.fuzz.shapes import SHAPES
from tests.fuzz.targets import TARGETS, Target

# The promise is 1 s for each 100 KB. This is processor time of this process, not of the clock, and three times the
# promise: what is linear takes a tenth of it, what is not takes minutes. `make fuzz` takes larger shapes.
SECONDS_PER_BYTE = 3 / 100_000
SHAPE_BYTES = 6_000

targets = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)

# Pieces that mean something to one of the readers, so that a few of them in a row get somewhere.
_PIECES = (
    "---\n", "\n---\n", "title: ", "tags: [a, b]\n", "a: &x [1, 2]\nb: *x\n", "? ", "- ", "{a: 1}",
    "|\n  x\n", "!!set ",
    "# H\n", "\n\n", "    code\n", "```\n", "`", "``", "[[a]]", "[[a|b]]", "[a](b.md)", "[a](<b c>)", "![[", "]]", "](",
    "[x]: y.md\n", "**Ana**: hi\n", "**Ana** (2024-03-15T10:30:00Z): last Friday\n",
    "| a | b |\n|---|---|\n| `c | d` |\n",
    "> ", ">> - ", "1. ", "10) ", "* * *\n", "===\n", "\t", " ", "\u200b", "\u0301", "é", "漢字", "かな",
    "ไทย", "👩\u200d💻",
    "POL-358", "getUserName", "a.b/c", "C++", "e.g. ", "A. ", "!? ", "。", "…", "\\", "\\[[", "%2e%2e/",
    "../", "/", "C:",
    "NUL", ".", "\x00", "\r", "\x0c", "\u2028", "\ud800", "\udcff", "2024-02-30", "two weeks ago",
    "1" * 20, "*", "**/", "!",
    "a = ", "[t]\n", '"""', "'", '"', "min_score = 0.5\n", "ignore = [", "1e999", "0x", "=", ",",
)  # fmt: skip
_texts = st.lists(st.sampled_from(_PIECES) | st.text(max_size=6), max_size=24).map("".join)
_blobs = st.binary(max_size=200) | _texts.map(lambda text: text.encode("utf-8", "surrogatepass"))


@contextmanager
def soon(size: int, what: str) -> Iterator[None]:
    """Fails when a block takes too much processor time for its input."""
    before = time.process_time()
    yield
    spent = time.process_time() - before
    assert spent <= 0.25 + SECONDS_PER_BYTE * size, f"{what}: {spent:.1f} s for {size} bytes"


@targets
@settings(max_examples=150)
@given(data=_blobs)
def test_nothing_crashes(target: Target, data: bytes) -> None:
    target(data)


@targets
def test_no_shape_hangs(target: Target) -> None:
    for name, shape in SHAPES.items():
        with soon(SHAPE_BYTES, f"{target.__name__} of {name}"):
            target(shape(SHAPE_BYTES))


# What took the square of its length, or more, before somebody looked.
@pytest.mark.parametrize(
    ("target", "shape"),
    [
        ("analyzer", "digits"),
        ("analyzer", "digits-in-words"),
        ("analyzer", "ellipses-in-words"),
        ("analyzer", "dots-in-words"),
        ("analyzer", "marks-out-of-order"),
        ("chunker", "marks-out-of-order"),
        ("chunker", "bangs-in-words"),
        ("ignore", "ignore-stars"),
        ("ignore", "ignore-bare-stars"),
        ("ignore", "ignore-folders"),
        ("config", "toml-dotted"),
        ("config", "abbreviations"),
        ("config", "toml-number"),
        ("links", "wiki-open"),
        ("links", "nested-links"),
        ("fields", "yaml-equal-keys"),
    ],
)
def test_time_grows_with_size_only(target: str, shape: str) -> None:
    data = SHAPES[shape](200_000)
    with soon(len(data), f"{target} of {shape}"):
        TARGETS[target](data)


def test_an_alias_bomb_is_refused_and_its_card_read() -> None:
    card = MarkdownCardParser().parse(SHAPES["alias-bomb"](600), id="n.md", path="n.md")
    assert [problem.code for problem in card.problems] == ["frontmatter-alias-bomb"]
    assert card.body == "body\n"
    assert not card.writable


@pytest.mark.parametrize("shape", ["yaml-flow", "yaml-maps", "yaml-dashes"])
def test_deep_nesting_is_refused_and_the_card_read(shape: str) -> None:
    card = MarkdownCardParser().parse(SHAPES[shape](100_000), id="n.md", path="n.md")
    [problem] = card.problems
    assert problem.code in ("frontmatter-too-deep", "frontmatter-invalid")  # libyaml has a limit of its own
    assert card.body == "body\n"


def test_a_card_may_hold_ten_thousand_links() -> None:
    body = " ".join(f"[[card-{number}]]" for number in range(5_000))
    body += "\n\n" + "\n".join(f"[text](folder/card-{number}.md)" for number in range(5_000))
    with soon(len(body), "10,000 links"):
        assert len({link.target for link in find_links(body)}) == 10_000


def test_a_query_of_five_thousand_words_is_cut() -> None:
    query = " ".join(f"word{number}" for number in range(5_000))
    assert len(query_words(query)) == MAX_QUERY_WORDS
    assert len(query_terms(query)) < 70 * MAX_QUERY_WORDS


def test_marks_beyond_any_language_are_dropped_and_others_kept() -> None:
    assert fold("e" + "\u0301\u0323" * 5000) == fold("e" + "\u0301\u0323" * 15)
    assert visible("क्षि") == "क्षि"
    assert fold(fold("A" + "\u0344\u0323" * 100)) == fold("A" + "\u0344\u0323" * 100)


@given(st.text(st.sampled_from("a\u0301\u0323é漢ﬁ½ \ufdfa"), max_size=80))
def test_a_bound_in_parts_is_the_bound_of_the_whole(text: str) -> None:
    assert estimate_tokens(text * 40) >= 40 * (estimate_tokens(text) - 1)


def test_a_run_of_marks_ends_a_sentence_only_before_a_blank() -> None:
    assert sentences("One... two!? Three?!x four.") == ["One... two!?", "Three?!x four."]


def test_a_block_keeps_its_values_beside_ten_thousand_equal_keys() -> None:
    block = frontmatter.parse("k: v\n" * 10_000 + "title: kept\n")
    assert block.values == {"k": "v", "title": "kept"}
    assert len(block.faults) == frontmatter.MAX_FAULTS


_glob = st.lists(st.sampled_from(["a", "b", "*", "?", "/", "**/", "[ab]", "a*b"]), min_size=1, max_size=9).map("".join)
_paths = st.lists(st.sampled_from(["a", "b", "ab", "ba", "aab", "abab"]), min_size=1, max_size=5).map("/".join)


@settings(max_examples=400)
@given(glob=_glob, path=_paths)
def test_a_pattern_without_ways_back_matches_the_same_paths(glob: str, path: str) -> None:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    usual = GitIgnoreSpecPattern(glob).regex
    if usual is None or not usual.pattern.startswith("^") or glob.endswith("**/"):
        return
    rules, _ = IgnoreRules().plus([glob])
    # pathspec writes "all below a" as the beginning of a path, and "one in a" as a whole one.
    matches = re.match if usual.pattern.endswith("/") else re.fullmatch
    assert bool(rules.verdict(path)) is bool(matches(usual.pattern, path))
