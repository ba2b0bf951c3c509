"""However an editor saved an ignore file: what it names is left out, and what could not be read is said."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.indexing.ignore_text import ignore_lines
from cogvault.indexing.scan import ScanOptions, scan

TEXT = "# café\nsecret.md\ncafé.md\nдневник.md\n秘密.md\n"
NAMES = ("secret.md", "café.md", "дневник.md", "秘密.md", "kept.md")


def left(vault: Path, name: str = ".cogvaultignore") -> tuple[set[str], list[tuple[str, str, int | None]]]:
    for card in NAMES:
        (vault / card).write_text("text")
    result = scan(vault, ScanOptions(use_gitignore=name == ".gitignore"))
    return set(result.files), [(problem.path, problem.code, problem.line) for problem in result.problems]


@pytest.mark.parametrize("name", [".cogvaultignore", ".gitignore"])
@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.replace("\n", "\r\n").encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8 marked", "utf-16 le", "utf-16 be"],
)
def test_patterns_hold_in_every_unicode_encoding(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert left(tmp_path, name) == ({"kept.md"}, [])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_missing_mark_is_named_and_the_patterns_hold(tmp_path: Path, encoding: str) -> None:
    (tmp_path / ".cogvaultignore").write_bytes(TEXT.encode(encoding))
    assert left(tmp_path) == ({"kept.md"}, [(".cogvaultignore", "ignore-unreadable", None)])


@pytest.mark.parametrize(
    ("text", "encoding", "gone"),
    [
        ("# café\nsecret.md\ncafé.md\n", "latin-1", "café.md"),
        ("secret.md\n\nдневник*\n", "cp1251", "дневник.md"),
        ("secret.md\n\n秘密.md\n", "gbk", "秘密.md"),
    ],
)
def test_a_line_in_another_encoding_is_named_and_leaves_out_more(
    tmp_path: Path, text: str, encoding: str, gone: str
) -> None:
    (tmp_path / ".cogvaultignore").write_bytes(text.encode(encoding))
    files, problems = left(tmp_path)
    assert not files & {"secret.md", gone}
    assert problems == [(".cogvaultignore", "ignore-unreadable", 3)]


def test_a_negated_line_that_cannot_be_read_brings_nothing_back(tmp_path: Path) -> None:
    (tmp_path / ".cogvaultignore").write_bytes("*.md\n!k*.md\n!é*.md\n".encode("latin-1"))
    assert left(tmp_path) == ({"kept.md"}, [(".cogvaultignore", "ignore-unreadable", 3)])


def test_a_file_that_was_cut_inside_a_character_keeps_its_patterns(tmp_path: Path) -> None:
    (tmp_path / ".cogvaultignore").write_bytes((codecs.BOM_UTF16_LE + "secret.md\ncaf".encode("utf-16-le"))[:-1])
    assert "secret.md" not in left(tmp_path)[0]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufffd")))
def test_text_is_read_as_it_was_written(text: str) -> None:
    text = text.lstrip("\ufeff")
    for data in (text.encode(), codecs.BOM_UTF16_LE + text.encode("utf-16-le")):
        assert ignore_lines(data, "f") == (text.splitlines(), [])


@given(st.binary())
def test_no_bytes_are_an_error(data: bytes) -> None:
    lines, problems = ignore_lines(data, "f")
    assert all(problem.path == "f" and (problem.line or 1) <= max(1, len(lines)) for problem in problems)
