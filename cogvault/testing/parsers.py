"""The contract of ``cogvault.protocols.CardParser``, as tests to inherit.

    class TestMyParser(ParserContract):
        def make_parser(self) -> CardParser:
            return MyParser()

Needs pytest and hypothesis.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogvault.protocols import CardParser
from cogvault.types import Card

_PLAIN: Final = "The harbor pilot decided to wait.\n\nMáme čas, 设备清单, ราคา.\n"
_FILES: Final = (
    b"",
    b" \n\t\n",
    _PLAIN.encode(),
    b"---\ntitle: One\ntags: [a, b]\ncreated: 2026-05-01\nnested: {list: [1, 2.5, null, true]}\n---\n# Two\n\ntext\n",
    b"---\ntitle: never closed\n\ntext\n",
    b"---\ntitle: Ops: [night\n---\ntext\n",
    b"---\ncreated: 2026-99-99\nn: .nan\nbig: 1e999\nkey: !!python/object:os.system x\n---\ntext\n",
    b"\xff\xfe\x00\xd8",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    b"text \xff\xfe\xed\xa0\x80 more text\n",
    "\ufeff---\ntitle: Wide\n---\ntext\n".encode("utf-16-le"),
    b"[[" * 5_000 + b"]]" * 5_000,
    b"> " * 5_000 + b"deep",
    b"- " * 5_000 + b"deep",
    b"---\nkey: " + b"[" * 5_000 + b"]" * 5_000 + b"\n---\ntext\n",
    b"`" * 5_001 + b"\n" + b"*" * 5_001 + b"\n" + b"#" * 5_001,
    b"see [[one#two^three|four]], ![[five]] and [six](seven%20eight.md)\n",
)


class ParserContract:
    """Checks of any card parser. Override ``make_parser``; it may return one shared object."""

    def make_parser(self) -> CardParser:
        """The parser under test; called once or more in each test."""
        raise NotImplementedError

    @pytest.mark.parametrize("data", _FILES, ids=range(len(_FILES)))
    def test_any_file_is_a_card(self, data: bytes) -> None:
        assert_well_formed(self._parse(data), data)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    @given(st.binary(max_size=200) | st.text(alphabet="-#[]|*>`: \n\r\té设\u200b", max_size=200).map(str.encode))
    def test_no_content_raises(self, data: bytes) -> None:
        assert_well_formed(self._parse(data), data)

    def test_the_text_of_a_plain_file_is_the_body(self) -> None:
        card = self._parse(_PLAIN.encode())
        for word in _PLAIN.split():
            assert word in card.body

    @pytest.mark.parametrize("top", ["", "---\ntitle: One\ntype: note\n---\n"])
    def test_the_body_starts_on_its_line(self, top: str) -> None:
        text = top + _PLAIN
        card = self._parse(text.encode())
        assert text.split("\n")[card.body_line - 1 :] == card.body.split("\n")

    def test_a_card_without_a_title_is_called_by_its_file(self) -> None:
        for data in (b"", b"\n\n", b"\xff\xfe\xfd"):
            assert "file-stem" in self._parse(data).title

    def test_id_and_path_are_taken_as_given(self) -> None:
        composed, decomposed = "notes/café.md", "notes/cafe\u0301.md"
        card = self.make_parser().parse(_PLAIN.encode(), id=composed, path=decomposed)
        assert (card.id, card.path) == (composed, decomposed)

    def test_a_name_that_is_no_text_gives_a_card_that_can_be_printed(self) -> None:
        card = self.make_parser().parse(b"", id="caf\udce9.md", path="caf\udce9.md")
        card.title.encode()

    def test_a_move_changes_nothing_but_the_names(self) -> None:
        data = b"# A title\n\ntext with a [[link]]\n"
        one, two = self._parse(data), self.make_parser().parse(data, id="b/other.md", path="b/other.md")
        assert replace(two, id=one.id, path=one.path) == one

    @pytest.mark.parametrize("newline", ["\r\n", "\r"])
    def test_line_ends_of_any_system_give_the_same_card(self, newline: str) -> None:
        text = "---\ntitle: One\n---\n" + _PLAIN
        assert self._parse(text.replace("\n", newline).encode()) == self._parse(text.encode())

    def test_a_byte_order_mark_changes_nothing(self) -> None:
        text = "---\ntitle: One\n---\n" + _PLAIN
        for encoding in ("utf-8-sig", "utf-16"):
            assert self._parse(text.encode(encoding)) == self._parse(text.encode())

    def test_what_is_wrong_is_a_problem_and_the_text_stays(self) -> None:
        card = self._parse(b"first words\n\nodd \xff byte\n\nlast words\n")
        assert card.problems
        assert "first words" in card.body
        assert "last words" in card.body

    def test_the_same_bytes_give_the_same_card(self) -> None:
        one, two = self.make_parser(), self.make_parser()
        for data in _FILES:
            card = one.parse(data, id="a.md", path="a.md")
            assert one.parse(data, id="a.md", path="a.md") == card
            assert two.parse(data, id="a.md", path="a.md") == card

    def test_the_version_is_stable(self) -> None:
        parser = self.make_parser()
        before = parser.version
        parser.parse(_PLAIN.encode(), id="a.md", path="a.md")
        assert before
        assert parser.version == before
        assert self.make_parser().version == before

    def test_no_file_is_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        parser = self.make_parser()
        expected = parser.parse(_PLAIN.encode(), id="a.md", path="a.md")  # what is loaded on first use is loaded now
        (tmp_path / "a.md").write_text("other text\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path)

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a parser opens no file")

        for name in ("builtins.open", "io.open", "os.open", "os.stat"):
            monkeypatch.setattr(name, refuse)
        assert parser.parse(_PLAIN.encode(), id="a.md", path="a.md") == expected

    def test_threads_share_one_parser(self) -> None:
        parser = self.make_parser()
        alone = [parser.parse(data, id="a.md", path="a.md") for data in _FILES]

        def parse_all(_: int) -> list[Card]:
            return [parser.parse(data, id="a.md", path="a.md") for data in _FILES]

        with ThreadPoolExecutor(4) as pool:
            assert all(cards == alone for cards in pool.map(parse_all, range(4)))

    def _parse(self, data: bytes) -> Card:
        return self.make_parser().parse(data, id="notes/file-stem.md", path="notes/file-stem.md")


def assert_well_formed(card: Card, data: bytes) -> None:
    """A card as every later step takes it for granted."""
    assert card.title.strip()
    assert "\r" not in card.body
    for text in (card.title, card.body, card.description, *card.tags, *card.aliases):
        text.encode()
        assert not {"\x00", "\ufeff"}.intersection(text)
    for item in fields(card):
        value = getattr(card, item.name)
        assert not isinstance(value, datetime) or value.tzinfo is not None, f"{item.name} has no zone"
    json.dumps(dict(card.meta), allow_nan=False, ensure_ascii=False).encode()
    last = data.count(b"\n") + data.count(b"\r") + 1
    assert 1 <= card.body_line <= last
    assert all(1 <= link.line <= last and link.target for link in card.links)
    for problem in card.problems:
        assert (problem.path, bool(problem.code), bool(problem.message)) == (card.path, True, True)
        assert problem.line is None or 1 <= problem.line <= last
