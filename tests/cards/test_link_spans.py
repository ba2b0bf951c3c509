from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards.link_spans import find_links, link_spans
from cogvault.cards.scan_markdown import scan
from cogvault.types import Link, LinkKind

WIKI, EMBED, MARKDOWN = LinkKind.WIKI, LinkKind.EMBED, LinkKind.MARKDOWN


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[a b]]", Link("a b", WIKI, 1)),
        ("[[ a ]]", Link("a", WIKI, 1)),
        ("[[a|text]]", Link("a", WIKI, 1, text="text")),
        ("[[a#Heading]]", Link("a", WIKI, 1, heading="Heading")),
        ("[[a#H1#H2|t]]", Link("a", WIKI, 1, heading="H1#H2", text="t")),
        ("[[a^block]]", Link("a", WIKI, 1, block="block")),
        ("[[a#^block]]", Link("a", WIKI, 1, block="block")),
        ("[[#Heading]]", Link("", WIKI, 1, heading="Heading")),
        ("[[C#]]", Link("C#", WIKI, 1)),
        ("![[a]]", Link("a", EMBED, 1)),
        ("[[dir/a.md]]", Link("dir/a.md", WIKI, 1)),
        ("[[v1.2]]", Link("v1.2", WIKI, 1)),
        ("[[überblick（x）]]", Link("überblick（x）", WIKI, 1)),
        ("[t](b.md)", Link("b.md", MARKDOWN, 1, text="t")),
        ("[t](a%20b.md#h%20i)", Link("a b.md", MARKDOWN, 1, heading="h i", text="t")),
        ("[t](<a b.md>)", Link("a b.md", MARKDOWN, 1, text="t")),
        ('[t](../x/b.md "title")', Link("../x/b.md", MARKDOWN, 1, text="t")),
        ("[t](b(1).md)", Link("b(1).md", MARKDOWN, 1, text="t")),
        ("[t](note)", Link("note", MARKDOWN, 1, text="t")),
        ("[t](#h)", Link("", MARKDOWN, 1, heading="h", text="t")),
        ("![t](b.md)", Link("b.md", EMBED, 1, text="t")),
        ("[ref]: b.md", Link("b.md", MARKDOWN, 1)),
        ("[ref]: <b.md> 'title'", Link("b.md", MARKDOWN, 1)),
        ("[t](b.md\n  (title)\n)", Link("b.md", MARKDOWN, 1, text="t")),
        ("[t](b.md?q=1#h)", Link("b.md", MARKDOWN, 1, heading="h", text="t")),
        ("[t](what?)", Link("what?", MARKDOWN, 1, text="t")),
        ('<a class="k" href="b.md#h">t</a>', Link("b.md", MARKDOWN, 1, heading="h")),
        ("> [[a]]", Link("a", WIKI, 1)),
        ("# [[a]]", Link("a", WIKI, 1)),
    ],
)
def test_forms_of_links(text: str, link: Link) -> None:
    assert find_links(text) == (link,)


def test_links_nest_in_link_texts() -> None:
    assert [link.target for link in find_links("[![alt](x.md)](y.md)")] == ["x.md", "y.md"]


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`",
        "``[[a]] ` [[b]]``",
        "`text\n[[a]]`",
        "```\n[[a]]\n```",
        "````\n```\n[[a]]\n````",
        "~~~\n[t](a.md)\n~~~",
        "```\n[[never closed]]",
        "    [[a]]",
        "text\n\n    [[a]]",
        "- item\n\n      [[a]]",
        "- ```\n  [[a]]\n  ```",
        "> ```\n> [[a]]\n> ```",
        "`[t](a.md)`",
        'if [[ -n "$x" ]]; then',
        "[[ $a == $b ]]",
        "[[]]",
        "[[|text]]",
        "[[a\nb]]",
        "\\[[a]]",
        "[[pic.png]]",
        "![[film.MP4]]",
        "![alt](pic.png)",
        "[t](https://example.org/a.md)",
        "[t](mailto:a@b.md)",
        "[t](//host/a.md)",
        "[t](file.py)",
        "[t](dir/)",
        "[t]()",
        "[t](a b.md)",
        "a[0](1.5)",
        "[^1]: b.md",
        "[todo]: later",
        "[t](a%00b.md)",
        "[t](b.md\n\n'title')",
        "<a href='https://example.org/a.md'>t</a>",
        "<a href='a.html'>t</a>",
        "<a data='a.md'>t</a>",
        "`<a href='a.md'>`",
    ],
)
def test_what_is_no_link(text: str) -> None:
    assert find_links(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "\\`[[a]]`",
        "`[[b]]` [[a]]",
        "`unclosed [[a]]",
        "text\n    [[a]]",
        "`x` [[a]] `y`",
        "| `x | [[a]] | y` |\n|-|-|-|",
    ],
)
def test_links_beside_code_count(text: str) -> None:
    assert [link.target for link in find_links(text)] == ["a"]


def test_an_escaped_bar_in_a_table_is_the_bar() -> None:
    (link,) = find_links("| a | b |\n|---|---|\n| [[x\\|shown]] | 2 |")
    assert (link.target, link.text, link.line) == ("x", "shown", 3)


def test_links_are_in_reading_order_with_their_lines() -> None:
    links = find_links("[[a]]\n\n[t](b.md) and [[c]]\n", first_line=10)
    assert [(link.target, link.line) for link in links] == [("a", 10), ("b.md", 12), ("c", 12)]


def test_spans_are_where_the_targets_are_written() -> None:
    body = "x [[ a b |t]] `[[no]]` ![[c#h]] | [t](d%20e.md#h) [[f\\|g]]\n\n[r]: <h.md>\n"
    lines = body.split("\n")
    spans = link_spans(body, lines, scan(lines))
    assert [body[span.start : span.end] for span in spans] == ["a b", "c", "d%20e.md", "f", "h.md"]


def test_thousands_of_links_are_all_found() -> None:
    assert len(find_links("[[a|b]] [t](c.md) " * 5000)) == 10_000


@pytest.mark.parametrize(
    "text", ["[" * 300_000, "[[" * 150_000, "](" * 150_000, "](x](x)" * 40_000, "`" * 300_000, "[a](" * 70_000,
             "[[a" + "^" * 300_000 + "]]", "\\`" * 150_000, " ".join("`" * (n % 300) for n in range(3000))]
)  # fmt: skip
def test_hostile_brackets_take_linear_time(text: str) -> None:
    # Quadratic work on these takes minutes and ends in the suite's timeout.
    assert len(find_links(text)) <= 1


_PARTS = [
    "[[a]]",
    "[[b|c]]",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "\n",
    "\n\n",
    "    ",
    "[t](d.md)",
    "![[e#f]]",
    "> ",
    "- ",
    "text ",
    "\\",
    "|",
]


@given(st.lists(st.sampled_from(_PARTS), max_size=20).map("".join))
def test_every_span_holds_its_target_and_no_line_is_wrong(body: str) -> None:
    lines = body.split("\n")
    for span in link_spans(body, lines, scan(lines)):
        assert body[span.start : span.end] == span.link.target
        assert body.count("\n", 0, span.start) + 1 == span.link.line


@given(st.text(st.sampled_from("[]()|#^`!\\ \nab.md%<>\"'-~"), max_size=60))
def test_no_text_raises(body: str) -> None:
    for link in find_links(body):
        assert link.target or link.heading or link.block
