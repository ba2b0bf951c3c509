"""What hostile input can reach, and what must hold whatever it is: only ``CogvaultError`` may come out.

A target takes bytes. Its checks are cheap and linear, so that the time it takes is the time of what it calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from cogvault.cards import frontmatter
from cogvault.cards.addresses import is_address, paths_of, prefix_of
from cogvault.cards.decoding import decode
from cogvault.cards.fields import read
from cogvault.cards.link_spans import link_spans
from cogvault.cards.links import LinkResolver
from cogvault.cards.markdown import MarkdownCardParser
from cogvault.cards.paths import is_usable_name, printable, resolve_inside
from cogvault.cards.scan_markdown import scan
from cogvault.cards.slugs import slug
from cogvault.config import CONFIG_FILE, resolve
from cogvault.errors import CogvaultError
from cogvault.indexing.chunker import chunker_for
from cogvault.indexing.ignore import IgnoreRules
from cogvault.layers.summarizers import ExtractiveSummarizer
from cogvault.text.dates import parse_date, resolve_relative
from cogvault.text.normalise import fold
from cogvault.text.queries import MAX_QUERY_WORDS, cut_query, query_terms
from cogvault.text.sentences import sentence_pieces
from cogvault.text.tokens import grams, stem, words
from cogvault.types import Card

Target = Callable[[bytes], None]

_CHUNKER = chunker_for(None, 200)
_PARSER = MarkdownCardParser()
_RAW_PARSER = MarkdownCardParser(strip_frontmatter=False)
# What aliases of a block may add to it, as JSON writes it: six characters for one that has to be escaped.
_ALIAS_JSON = 6 * frontmatter.MAX_ALIAS_GROWTH
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
# A word gives its exact form, its stem, its speaker's form, and at most one gram for each of its 64 characters.
_MOST_TERMS = MAX_QUERY_WORDS * 68


def parser(data: bytes) -> None:
    """Bytes to a card, with the frontmatter left out and left in."""
    for each in (_PARSER, _RAW_PARSER):
        card = each.parse(data, id="n.md", path="n.md")
        _assert_storable(card.title, card.body, card.description, card.name or "", card.type or "", card.source or "")
        _assert_storable(*card.tags, *card.aliases, *(problem.message for problem in card.problems))
        _assert_storable(*(part for link in card.links for part in (link.target, link.heading or "", link.text or "")))
        assert len(card.links) <= len(data)


def fields(data: bytes) -> None:
    """A frontmatter block to values and known keys."""
    block = frontmatter.parse(_text(data))
    written = json.dumps(dict(block.values), allow_nan=False)
    assert len(written) <= 64 + 12 * len(data) + _ALIAS_JSON
    known = read(block)
    _assert_storable(*known.tags, *known.aliases, known.title)
    assert block.valid or block.faults


def links(data: bytes) -> None:
    """A body to links, whose places are right, and each to a card or to none."""
    text = _text(data)
    lines = text.split("\n")
    card = Card(id="a/n.md", path="a/n.md", title=lines[0][:200], body=text, aliases=tuple(lines[1:4]))
    resolver = LinkResolver([card])
    for span in link_spans(text, lines, scan(lines)):
        assert 0 <= span.start <= span.end <= len(text)
        assert 1 <= span.link.line <= len(lines)
        resolver.resolve(span.link.target, source_id="a/n.md", kind=span.link.kind)
        resolver.suggest(span.link.target[:200])


def chunker(data: bytes) -> None:
    """A card to chunks, which hold each of its lines and keep to their size."""
    card = _PARSER.parse(data, id="n.md", path="n.md")
    chunks = _CHUNKER.chunk(card)
    held = set[int]()
    for chunk in chunks[1:]:
        held.update(range(chunk.start_line, chunk.end_line + 1))
    told = {card.body_line + place for place, line in enumerate(card.body.split("\n")) if line.strip()}
    assert told <= held
    assert sum(len(chunk.text) for chunk in chunks[1:]) <= len(card.body)


def layers(data: bytes) -> None:
    """A card to its abstract and overview, which stay short."""
    card = _PARSER.parse(data, id="n.md", path="n.md")
    summary = ExtractiveSummarizer().summarize(card)
    _assert_storable(summary.abstract, summary.overview)
    assert len(summary.abstract) + len(summary.overview) < 64 * 1024


def analyzer(data: bytes) -> None:
    """A text to words, stems, grams, sentences, dates and a file name."""
    text = _text(data)
    found = words(text)
    for word in dict.fromkeys(found[:5000]):
        assert word
        stem(word)
        grams(word)
    assert "".join(sentence_pieces(text)) == text
    assert fold(fold(text)) == fold(text)
    parse_date(text)
    resolve_relative(text, _NOW)
    assert 0 < len(slug(text).encode()) <= 125


def query(data: bytes) -> None:
    """A query to terms, of which there are never many."""
    terms = query_terms(cut_query(_text(data)))
    assert len(terms) <= _MOST_TERMS
    _assert_storable(*(term.text for term in terms))


def config(data: bytes) -> None:
    """A vault's own settings file, and the same text as variables of the environment."""
    with TemporaryDirectory() as folder:
        (Path(folder) / CONFIG_FILE).write_bytes(data)
        with suppress(CogvaultError):
            resolve(Path(folder), None, {})
    text = data.decode("utf-8", "surrogateescape")
    for name in ("IGNORE", "MODEL", "REFRESH_SECONDS", "TYPE_WEIGHTS", text[:40]):
        with suppress(CogvaultError):
            resolve(None, None, {f"COGVAULT_{name}": text})


def paths(data: bytes) -> None:
    """A path from outside, which stays inside or is refused in words that can be printed."""
    text = data.decode("utf-8", "surrogateescape")
    root = Path("/nonexistent/vault")
    try:
        assert resolve_inside(root, text).is_relative_to(root)
        assert all(map(is_usable_name, text.split("/")))
        assert ".." not in text.split("/")
    except CogvaultError as error:
        _assert_storable(str(error))
    _assert_storable(printable(text))


def addresses(data: bytes) -> None:
    """An address from outside: places inside the vault, or a refusal in words that can be printed."""
    text = data.decode("utf-8", "surrogateescape")
    for given in (text, f"cogvault://{text}", f"cogvault://user/{text}"):
        try:
            is_address(given)
            for path in paths_of(given):
                assert resolve_inside(Path("/nonexistent/vault"), path).is_relative_to("/nonexistent/vault")
        except CogvaultError as error:
            _assert_storable(str(error))
        with suppress(CogvaultError):
            prefix_of(given)


def ignore(data: bytes) -> None:
    """Ignore patterns of a vault, and a long and a deep path."""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    rules, _ = IgnoreRules().plus(lines[:50])
    for path in ("a" * 200 + ".md", "a/" * 1000 + "n.md", "d/", lines[0][:200] if lines else "n.md"):
        rules.verdict(path)


TARGETS: Mapping[str, Target] = {
    target.__name__: target
    for target in (parser, fields, links, chunker, layers, analyzer, query, config, paths, addresses, ignore)
}


def _text(data: bytes) -> str:
    """Text as it comes out of a file."""
    return decode(data).text


def _assert_storable(*texts: str) -> None:
    """Text that SQLite, JSON and a terminal take: no lone surrogates."""
    "".join(texts).encode()
