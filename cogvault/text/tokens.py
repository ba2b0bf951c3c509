"""Keyword analysis without language detection (design.md, decision 2). Pure.

A text becomes a list of exact words; a word has a stem (its first letters) and character grams. Compound words
(``svc_payments``, ``POL-358``, ``v2.3.1``, ``getUserName``, ``src/auth/login.py``) are words whole and in parts; runs
of scripts written without spaces become pairs of characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from cogvault.text.normalise import fold, visible

VERSION = "2"
STEM_LENGTH = 5
GRAM_LENGTH = 4
# Longer "words" are base64, hashes and minified code; cut here so that memory stays bounded.
MAX_WORD = 64

# Scripts that are searched by pairs of characters: written without spaces, or (Hangul) glued with particles.
_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々〆"
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_DENSE}]]"
# A dense run; or letters and digits, joined by at most one joiner at a time, with C++, C# and F# kept whole.
_TOKEN = regex.compile(
    rf"(?P<dense>[{_DENSE}][{_DENSE}\p{{M}}]*)|{_LETTER}+(?:[_\-./\\:@&'’+#~]{_LETTER}+)*(?:\+\+|\#)?", regex.V1
)
# The same where there is nothing but ASCII, four times as fast.
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[_\-./\\:@&'+#~][A-Za-z0-9]+)*(?:\+\+|\#)?")
_PART = regex.compile(rf"{_LETTER}+", regex.V1)
_CAMEL = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}\p{N}]+|\p{Lu}+\p{N}*|[\p{L}\p{M}\p{N}]", regex.V1)
# Numbers joined to one, as versions and dates are. Nothing is given back, and looked for only where a number begins: a
# long number alone would take the square of its length.
_NUMBER = regex.compile(r"(?<!\p{N})\p{N}++(?:[_\-./\\:]\p{N}++)++", regex.V1)
# Letters and a number, or the other way round; hashes, which change more often, are no compounds.
_LETTERS_AND_NUMBER = regex.compile(
    r"(?P<letters>[\p{L}\p{M}]+)(?P<number>\p{N}+)|(?P<number>\p{N}+)(?P<letters>[\p{L}\p{M}]+)", regex.V1
)
_HAS_CAMEL = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}", regex.V1)


def words(text: str, *, numbers_apart: bool = True) -> list[str]:
    """Exact words of a text in reading order, repetitions kept; compounds whole, then in parts.

    Args:
        text: any.
        numbers_apart: also the number in a word (``POL358``, ``v2.3.1``); to search by, not to count what is said.

    >>> words("Fix POL-358 in getUserName")
    ['fix', 'pol-358', 'pol', '358', 'in', 'getusername', 'get', 'user', 'name']
    """
    found: list[str] = []
    if text.isascii():
        for token in _ASCII_TOKEN.findall(text):
            lower = token.lower()
            if (token == lower or token[1:] == lower[1:]) and token.isalpha():
                found.append(lower[:MAX_WORD])
            else:
                found.extend(_words_of(token, numbers_apart))
        return found
    for match in _TOKEN.finditer(visible(text)):
        token = match.group()
        if match["dense"]:
            run = fold(token)
            found.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        else:
            found.extend(_words_of(token, numbers_apart))
    return found


def _words_of(token: str, numbers_apart: bool) -> tuple[str, ...]:
    if token.isalpha() and not _HAS_CAMEL.search(token):
        return (fold(token)[:MAX_WORD],)
    if len(token) <= MAX_WORD:
        return _known_compound(token, numbers_apart)
    # Seen once, and kept by a cache it would cost as much as its file.
    return _compound(token, numbers_apart)


@lru_cache(maxsize=8192)
def _known_compound(token: str, numbers_apart: bool) -> tuple[str, ...]:
    return _compound(token, numbers_apart)


def _compound(token: str, numbers_apart: bool) -> tuple[str, ...]:
    """A token with joiners, digits or inner capitals: whole, its parts, camelCase pieces, and the numbers in them."""
    parts = _PART.findall(token)
    pieces = [piece for part in parts if _HAS_CAMEL.search(part) for piece in _pieces(part)]
    found = [token, *(parts if parts != [token] else ()), *pieces]
    if numbers_apart and not token.isalpha():
        found += (number for number in _NUMBER.findall(token) if number != token)
        for part in [part for part in parts if not _HAS_CAMEL.search(part)] + pieces:
            found += _letters_and_number(part)
    return tuple(fold(word)[:MAX_WORD] for word in found)


def _pieces(part: str) -> list[str]:
    pieces = _CAMEL.findall(part)
    return pieces if len(pieces) > 1 else []


def _letters_and_number(part: str) -> list[str]:
    """``POL358`` is found as ``POL-358`` is. A single letter says nothing by itself."""
    match = _LETTERS_AND_NUMBER.fullmatch(part)
    if match is None:
        return []
    return [piece for piece in match.groups() if piece is not None and (len(piece) > 1 or piece.isnumeric())]


def stem(word: str) -> str:
    """The form under which inflections of a word meet: its first letters.

    >>> stem("databases")
    'datab'
    """
    return word[:STEM_LENGTH]


def grams(word: str) -> tuple[str, ...]:
    """Character grams of a word between its edge marks, each once, in order; single characters of a dense word.

    >>> grams("pay")
    ('<pay', 'pay>')
    """
    if is_dense(word):
        return tuple(dict.fromkeys(word))
    marked = f"<{word}>"
    return tuple(dict.fromkeys([marked[i : i + GRAM_LENGTH] for i in range(len(marked) - GRAM_LENGTH + 1)]))


def is_identifier(word: str) -> bool:
    """True for a word that is more than letters: a number, a key, a path, ``C++``.

    >>> is_identifier("pol-358"), is_identifier("policy")
    (True, False)
    """
    return not word.isalpha() if word.isascii() else _LETTERS_ONLY.fullmatch(word) is None


def is_dense(word: str) -> bool:
    """True for a word of a script that is searched by pairs of characters."""
    return bool(word) and not word.isascii() and _DENSE_WORD.match(word) is not None


_LETTERS_ONLY = regex.compile(r"[\p{L}\p{M}]+", regex.V1)
_DENSE_WORD = regex.compile(rf"[{_DENSE}\p{{M}}]+\Z", regex.V1)
