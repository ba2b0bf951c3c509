"""Shapes of hostile text: one thing repeated to any size, in every place where repetition has hung a parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Shape = Callable[[int], bytes]
"""Gives about so many bytes."""


def repeated(unit: str, before: str = "", after: str = "") -> Shape:
    """``before``, then ``unit`` until the size is reached, then ``after``."""
    data = unit.encode("utf-8", "surrogatepass")
    return lambda size: before.encode() + data * (size // len(data)) + after.encode()


def _nested(opening: str, closing: str, inside: str = "x", before: str = "", after: str = "") -> Shape:
    def make(size: int) -> bytes:
        depth = size // (len(opening) + len(closing))
        return f"{before}{opening * depth}{inside}{closing * depth}{after}".encode()

    return make


def _numbered(line: str, before: str = "", after: str = "") -> Shape:
    """Lines that differ."""

    def make(size: int) -> bytes:
        count = size // (len(line) + 4)
        return (before + "".join(line.format(n=number) for number in range(count)) + after).encode()

    return make


def _indented(line: str) -> Shape:
    """Lines that go in deeper and deeper, of which a square root of the size fits."""

    def make(size: int) -> bytes:
        count = int((2 * size) ** 0.5)
        return "\n".join(" " * number + line for number in range(count)).encode()

    return make


def _alias_bomb(size: int) -> bytes:
    """Each list holds the one before it nine times; what is left of the size is a comment."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 9)]
    text = "\n".join(lines)
    return f"---\n{text}\n#{'x' * (size - len(text))}\n---\nbody\n".encode()


# One character of each kind that means something to somebody: Markdown, YAML, TOML, dates, Unicode.
_CHARACTERS = {
    "spaces": " ", "tabs": "\t", "newlines": "\n", "returns": "\r", "letters": "a", "capitals": "A", "digits": "1",
    "opening-brackets": "[", "closing-brackets": "]", "parentheses": "(", "braces": "{", "angles": "<", "quotes": ">",
    "stars": "*", "underscores": "_", "dashes": "-", "pipes": "|", "ticks": "`", "tildes": "~", "hashes": "#",
    "equals": "=", "pluses": "+", "dots": ".", "commas": ",", "colons": ":", "semicolons": ";", "bangs": "!",
    "question-marks": "?", "backslashes": "\\", "slashes": "/", "percents": "%", "ampersands": "&", "ats": "@",
    "carets": "^", "dollars": "$", "double-quotes": '"', "apostrophes": "'", "full-width-colons": "：",
    "full-width-brackets": "（", "ellipses": "…", "cjk": "漢", "kana": "か", "hangul": "각", "jamo": "ᄀ", "thai": "ก",
    "arabic": "ع", "devanagari": "क", "combining-marks": "\u0301", "low-marks": "\u0323", "zero-width-spaces": "\u200b",
    "joiners": "\u200d", "soft-hyphens": "\u00ad", "bom": "\ufeff", "right-to-left": "\u202e", "ligatures": "\ufdfa",
    "sharp-s": "ß", "dotted-i": "İ", "emoji": "😀", "variation-selectors": "\ufe0f", "line-separators": "\u2028",
    "form-feeds": "\x0c", "escapes": "\x1b", "private-use": "\ue000", "replacement": "\ufffd", "last": "\U0010ffff",
    "nbsp": "\u00a0", "ideographic-spaces": "\u3000",
}  # fmt: skip

# Several characters that only together mean something.
_UNITS = {
    "marked-letters": "a\u0301", "marks-out-of-order": "\u0301\u0323", "emoji-joined": "👩\u200d💻",
    "flags": "🇺🇦", "camel-case": "aB", "capitals-small": "ABc", "snake": "a_", "dotted": "a.", "joined": "a-1",
    "wiki-open": "[[", "wiki-open-letter": "[[a", "wiki-links": "[[a]]", "embeds": "![[a", "wiki-bars": "[[a|",
    "escaped-wiki": "\\[[", "link-open": "[a](", "links": "[a](b.md) ", "link-quotes": '[a](b "',
    "link-angles": "[a](<",
    "link-nest": "](", "link-parens": "[a](b(c)", "image-open": "![", "reference": "[a]: b.md\n",
    "reference-open": "[a]:",
    "bold-open": "**", "bold-letter": "**a", "turns": "**a**: b\n", "turn-times": "**a** (",
    "turn-open": "**a** (2024): ",
    "headings": "# a\n", "deep-headings": "###### a\n", "bare-headings": "#\n", "underlined": "a\n=\n",
    "rules": "---\n",
    "spaced-rules": "- ", "star-rules": "* ", "list": "- a\n", "numbers": "1. a\n", "list-in-line": "- - ",
    "quote-in-line": "> ", "quote-lines": "> a\n", "quote-list": "> - ", "tables": "| a | b |\n|---|---|\n",
    "table-rows": "| a |\n", "table-rule": "|-", "table-rule-spaces": "| - ", "colon-rule": ":-:|", "fences": "```\n",
    "fence-open": "```a\n", "tilde-fences": "~~~\n", "tick-pairs": "`a` ", "tick-letters": "`a", "escaped-ticks": "\\`",
    "code-lines": "    a\n", "tab-lines": "\ta\n", "blank-lines": " \n", "paragraphs": "a\n\n", "sentences": "A b. ",
    "sentence-ends": "a.\n", "ellipsis-spaces": "… ", "dots-spaces": ". ", "closers": '."', "initials": "A. ",
    "abbreviations": "e.g. ", "todos": "TODO ", "boxes": "- [ ] a\n", "box-open": "[ ] ", "dates": "2024-01-01 ",
    "date-open": "2024-", "times": "10:", "ago": "two days ago ", "last-week": "last  ", "in-in": "in 1 ",
    "hashtags": "#a ",
    "html": "<a>", "html-open": "<a ", "comments": "<!--", "urls": "http://a/", "scheme": "a:", "entities": "&amp;",
    "fence-dashes": "---\n---\n", "keys": "a: b\n", "flow-seq": "[", "flow-map": "{a: ", "percent-escapes": "%2e",
    "double-percent": "%25", "parents": "../", "crlf": "a\r\n", "quoted-names": "「a」", "quote-open": "「",
    "curly": "“",
    "capital-words": "Ab ", "capital-hyphens": "Ab-", "code-name": "`A b`", "handles": "@a", "trailing-spaces": "a  \n",
}  # fmt: skip

_FRONT = "---\n"
_END = "\n---\nbody\n"

SHAPES: Mapping[str, Shape] = {
    **{name: repeated(unit) for name, unit in _CHARACTERS.items()},
    **{f"{name}-in-words": repeated(unit, "a", "b") for name, unit in _CHARACTERS.items()},
    **{name: repeated(unit) for name, unit in _UNITS.items()},
    **{f"yaml-{name}": repeated(unit, f"{_FRONT}title: ", _END) for name, unit in _CHARACTERS.items()},
    "brackets": _nested("[", "]"),
    "nested-links": _nested("[", "](a)"),
    "nested-quotes": _nested("> ", ""),
    "indented-list": _indented("- a"),
    "indented-text": _indented("a"),
    "indented-quotes": _indented("> a"),
    "yaml-flow": _nested("[", "]", before=f"{_FRONT}a: ", after=_END),
    "yaml-maps": _nested("{a: ", "}", before=f"{_FRONT}a: ", after=_END),
    "yaml-anchors": _numbered("a{n}: &a{n} x\n", _FRONT, _END),
    "yaml-aliases": repeated("*x, ", f"{_FRONT}x: &x y\na: [", "]" + _END),
    "yaml-alias-list": repeated("- *x\n", f"{_FRONT}x: &x [a, b, c]\na:\n", _END),
    "yaml-keys": _numbered("k{n}: v\n", _FRONT, _END),
    "yaml-equal-keys": repeated("k: v\n", _FRONT, _END),
    "yaml-tags": _numbered("- t{n}\n", f"{_FRONT}tags:\n", _END),
    "yaml-comma-tags": repeated("a,", f"{_FRONT}tags: ", _END),
    "yaml-hash-tags": repeated("#a ", f'{_FRONT}tags: "', f'"{_END}'),
    "yaml-number": repeated("1", f"{_FRONT}importance: ", _END),
    "yaml-date": repeated("1", f"{_FRONT}date: ", _END),
    "yaml-block-text": repeated("  a\n", f"{_FRONT}a: |\n", _END),
    "yaml-plain-lines": repeated("  a\n", f"{_FRONT}a:\n", _END),
    "yaml-complex-keys": repeated("? ", f"{_FRONT}", _END),
    "yaml-dashes": repeated("- ", f"{_FRONT}", _END),
    "yaml-tag-marks": repeated("!a ", f"{_FRONT}a: ", _END),
    "yaml-directives": repeated("%a\n", _FRONT, _END),
    "yaml-wiki": repeated("[[a", f'{_FRONT}supersedes: "', f'"{_END}'),
    "alias-bomb": _alias_bomb,
    "unterminated": repeated("a: b\n", _FRONT),
    "many-links": _numbered("[[card-{n}|text]] "),
    "different-words": _numbered("w{n} "),
    "different-headings": _numbered("# h{n}\n\ntext {n}\n\n"),
    "different-turns": _numbered("**s{n}** (2024-03-15T10:30:00Z): last Friday {n}\n\n"),
    "ticks-of-all-lengths": lambda size: " ".join("`" * n for n in range(1, int((2 * size) ** 0.5))).encode(),
    "one-paragraph": _numbered("word{n} is here\n"),
    "paragraph-then-rule": repeated("a\n", "", "===\n"),
    "nul": repeated("\x00"),
    "nul-in-text": repeated("a\x00"),
    "surrogates": repeated("\ud800"),
    "latin-1": lambda size: b"caf\xe9 " * (size // 5),
    "not-utf8": lambda size: b"\xff" * size,
    "utf-16": lambda size: ("word " * (size // 10)).encode("utf-16"),
    "utf-16-odd": lambda size: ("a" * (size // 2)).encode("utf-16") + b"\x00",
    "utf-16-surrogates": lambda size: b"\xff\xfe" + b"\x00\xd8" * (size // 2),
    "toml-arrays": _nested("[", "]", inside="", before="ignore = "),
    "toml-tables": _nested("{a=", "}", inside="1", before="model = "),
    "toml-dotted": repeated("a.", "", "a = 1"),
    "toml-table-names": _numbered("[a{n}]\n"),
    "toml-string": repeated("a", 'model = "', '"'),
    "toml-number": repeated("1", "refresh_seconds = "),
    "toml-list": repeated('"a", ', "ignore = [", "]"),
    "json-list": _nested("[", "]", inside=""),
    "ignore-stars": repeated("*a"),
    "ignore-bare-stars": repeated("*", "", "b"),
    "ignore-folders": repeated("**/a/", "", "b"),
    "ignore-classes": repeated("[a"),
    "ignore-lines": repeated("*a*a*b\n"),
    "deep-path": repeated("a/"),
    "long-name": repeated("a", "", ".md"),
}  # fmt: skip
