from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from cogvault.cards import MarkdownCardParser
from cogvault.indexing.chunking import TokenBudget, chunk_card
from cogvault.layers.tokens import estimate_tokens
from cogvault.text.queries import speaker_form
from cogvault.text.tokens import words
from cogvault.types import Chunk, ChunkKind


def count(texts: Sequence[str]) -> list[int]:
    return [estimate_tokens(text) for text in texts]


def budget(max_tokens: int = 100, target_tokens: int = 40) -> TokenBudget:
    return TokenBudget(max_tokens, count, lambda text: len(text) + 1, target_tokens)


def chunks(text: str, id: str = "folder/card-name.md", limits: TokenBudget | None = None) -> tuple[Chunk, ...]:
    card = MarkdownCardParser().parse(text.encode(), id=id, path=id)
    return chunk_card(card, budget=limits or budget())


def body(text: str, limits: TokenBudget | None = None) -> list[Chunk]:
    return list(chunks(text, limits=limits)[1:])


def texts(found: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in found]


HEAD = """---
name: auth
title: Sign in
description: Tokens rotate hourly.
tags: [security, login]
aliases: [login flow]
---
"""


def test_head_says_what_the_card_says_of_itself() -> None:
    head = chunks(HEAD + "Body.")[0]
    assert (head.position, head.kind, head.start_line, head.end_line) == (0, ChunkKind.HEAD, 1, 7)
    assert head.text == "Sign in\nauth\nlogin flow\nTokens rotate hourly.\n#security #login"
    assert head.terms_text.split("\n") == [
        "Sign in",
        "auth",
        "login flow",
        "Tokens rotate hourly.",
        "security login",
        "folder",
        "card-name",
    ]
    assert head.embed_text == "Sign in. Tokens rotate hourly."


def test_head_without_description_is_embedded_only_when_there_is_no_body() -> None:
    assert chunks("---\ntitle: Sign in\n---\nBody.")[0].embed_text == ""
    assert chunks("---\ntitle: Sign in\n---\n\n \n")[0].embed_text == "Sign in"


@pytest.mark.parametrize("text", ["", "  \n\n", "---\ntags: x\n---\n"])
def test_a_card_without_text_is_one_head_chunk(text: str) -> None:
    (head,) = chunks(text)
    assert (head.kind, head.text.split("\n")[0], head.embed_text) == (ChunkKind.HEAD, "card-name", "card-name")


def test_an_empty_numbered_file_has_nothing_to_embed() -> None:
    assert chunks("", id="0001.md")[0].embed_text == ""


def test_a_word_of_the_head_counts_once() -> None:
    head = chunks("---\nname: card-name\n---\n")[0]
    assert head.terms_text == "card-name\nfolder"


def test_text_chunks_have_heading_path_lines_and_context() -> None:
    found = body(
        "---\ntitle: Card\n---\n# Card\n\nIntro.\n\n## Setup\n\nInstall it.\n\n### Linux\nUse apt.\n\n## Use\nRun it.\n"
    )
    assert [(chunk.text, chunk.start_line, chunk.end_line, chunk.heading) for chunk in found] == [
        ("# Card\n\nIntro.", 4, 6, ("Card",)),
        ("## Setup\n\nInstall it.", 8, 10, ("Card", "Setup")),
        ("### Linux\nUse apt.", 12, 13, ("Card", "Setup", "Linux")),
        ("## Use\nRun it.", 15, 16, ("Card", "Use")),
    ]
    assert [chunk.position for chunk in found] == [1, 2, 3, 4]
    # The title is not said twice when the first heading repeats it.
    assert found[2].embed_text == "Card > Setup > Linux\n### Linux\nUse apt."
    assert found[2].terms_text == "Setup\nLinux\n### Linux\nUse apt."
    assert found[0].embed_text == "Card\n# Card\n\nIntro."


def test_context_without_letters_is_left_out() -> None:
    assert chunks("Text.", id="0001.md")[1].embed_text == "Text."


def test_context_takes_at_most_a_quarter_of_the_budget() -> None:
    (chunk,) = body(f"---\ntitle: {'long ' * 100}\n---\nText.", budget(80))
    context, _, text = chunk.embed_text.rpartition("\n")
    assert text == "Text."
    assert 0 < estimate_tokens(context) <= 20


def test_headings_without_text_lose_nothing() -> None:
    assert texts(body("# A\n## B\ntext\n## C\n## D\n# E")) == ["# A\n## B\ntext", "## C", "## D", "# E"]


def test_small_neighbors_are_joined_and_large_ones_are_not() -> None:
    small, large = "Short one.", "word " * 30
    assert texts(body(f"{small}\n\n{small}\n\n- a\n- b\n\n{large}\n\n{small}")) == [
        f"{small}\n\n{small}\n\n- a\n- b",
        large,
        small,
    ]


def test_nothing_is_joined_across_headings() -> None:
    assert len(body("# A\nx\n# B\ny")) == 2


def test_a_fence_that_fits_is_never_cut() -> None:
    fence = "```py\n" + "x = 1\n\n" * 40 + "```"
    assert fence in texts(body(f"Intro.\n\n{fence}\n\nOutro.", budget(120, 20)))


def test_a_fence_that_does_not_fit_is_cut_between_lines() -> None:
    fence = "```py\n" + "\n".join(f"value_{n} = {n}" for n in range(200)) + "\n```"
    found = body(fence)
    assert "\n".join(texts(found)) == fence
    assert len(found) > 3


def test_a_fence_inside_a_long_list_is_not_cut() -> None:
    fence = "  ```\n" + "  code\n" * 20 + "  ```"
    long_list = "\n".join(["- item " + "word " * 30, fence, "- item " + "word " * 30, "- item " + "word " * 60])
    assert any(fence in text for text in texts(body(long_list)))


def test_a_table_and_a_list_are_cut_between_rows_and_items() -> None:
    rows = ["| a | b |", "|---|---|", *(f"| row {n} | value {n} |" for n in range(60))]
    items = [f"- item {n}\n  continued" for n in range(60)]
    assert "\n".join(texts(body("\n".join(rows)))).split("\n") == rows
    for text in texts(body("\n".join(items))):
        assert text.startswith("- item")
        assert text.endswith("  continued")


def test_a_wrapped_paragraph_is_cut_where_a_sentence_ends() -> None:
    sentence = "This sentence goes on\nover two lines of text."
    for text in texts(body("\n".join([sentence] * 40))):
        assert text.endswith("text.")


@pytest.mark.parametrize(
    ("sentence", "gap"),
    [("This is a sentence of some length.", " "), ("这是一个有一定长度的句子。", ""), ("यह एक वाक्य है।", " ")],
)
def test_a_long_line_is_cut_between_sentences(sentence: str, gap: str) -> None:
    line = gap.join([sentence] * 60)
    found = body(f"---\ntitle: T\n---\n{line}")
    assert "".join(texts(found)) == line
    assert all(text.strip().endswith(sentence[-1]) for text in texts(found))
    assert {(chunk.start_line, chunk.end_line) for chunk in found} == {(4, 4)}


def test_a_line_without_sentences_is_cut_between_words_and_a_word_between_characters() -> None:
    words = "word " * 500
    assert all(not text.strip().strip("word ") for text in texts(body(words)))
    assert all(text.startswith("word") for text in texts(body(words)))
    assert "".join(texts(body("x" * 5000))) == "x" * 5000
    marks = "नि" * 1000
    assert all(text.startswith("न") for text in texts(body(marks)))


def test_a_chunk_without_letters_or_digits_is_not_embedded() -> None:
    assert [chunk.embed_text for chunk in body("***")] == [""]
    assert body("42")[0].embed_text == "card-name\n42"


def test_indented_first_line_and_blank_lines_keep_their_place() -> None:
    (chunk,) = body("\n\n    code\n\n\n    more\n\n")
    assert (chunk.text, chunk.start_line, chunk.end_line) == ("    code\n\n\n    more", 3, 6)


def test_raw_frontmatter_is_a_chunk_as_it_stands() -> None:
    parser = MarkdownCardParser(strip_frontmatter=False)
    card = parser.parse(b"---\ntitle: Sign in\n# no heading\n---\n# H\ntext", id="a.md", path="a.md")
    found = chunk_card(card, budget=budget())
    assert [(chunk.text, chunk.heading) for chunk in found[1:]] == [
        ("---\ntitle: Sign in\n# no heading\n---", ()),
        ("# H\ntext", ("H",)),
    ]


DIALOGUE = """# Session 1

Before they talk.

**Ana** (2023-05-08T13:56:00Z): I went to the group yesterday.

It was good.

- really
**Bob**（2023-05-08）：Nice!
**Ана**: Привіт
## Later
Not said by anyone.
"""


def test_each_turn_is_a_chunk_with_speaker_and_time() -> None:
    found = body(DIALOGUE)
    assert [(chunk.kind, chunk.speaker, chunk.at, chunk.start_line, chunk.end_line) for chunk in found] == [
        (ChunkKind.TEXT, None, None, 1, 3),
        (ChunkKind.TURN, "Ana", datetime(2023, 5, 8, 13, 56, tzinfo=UTC), 5, 9),
        (ChunkKind.TURN, "Bob", datetime(2023, 5, 8, tzinfo=UTC), 10, 10),
        (ChunkKind.TURN, "Ана", None, 11, 11),
        (ChunkKind.TEXT, None, None, 12, 13),
    ]
    assert found[1].heading == ("Session 1",)
    assert found[1].embed_text == "Ana: I went to the group yesterday.\n\nIt was good.\n\n- really"
    # The turn before says what this one answers.
    assert found[2].embed_text == f"{found[1].embed_text}\nBob: Nice!"
    assert found[3].embed_text == "Bob: Nice!\nАна: Привіт"


def test_a_turn_is_found_by_speaker_words_and_dates() -> None:
    turn = body(DIALOGUE)[1]
    assert turn.terms_text.startswith("speaker:ana\nI went to the group yesterday.")
    assert turn.terms_text.endswith("\n2023-05-08 8 May 2023 2023-05-07 7 May 2023")


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("Mara Lind", "speaker:mara speaker:lind"),
        ("Anna-Lena", "speaker:anna-lena speaker:anna speaker:lena anna-lena"),
        ("O'Brien", "speaker:o'brien speaker:o speaker:brien o'brien"),
        ("Олена", "speaker:олена"),
        ("王小明", "speaker:738b5c0f speaker:5c0f660e 王小 小明"),
        ("Agent 7", "speaker:agent"),
    ],
)
def test_each_word_of_a_speakers_name_finds_the_turn(name: str, terms: str) -> None:
    (turn,) = body(f"**{name}**: hi")
    assert turn.terms_text == f"{terms}\nhi"
    every = words(turn.terms_text)
    for word in words(name):
        assert word in every or word == "7"
        assert speaker_form(word) in every or word == "7"


def test_a_relative_date_counts_from_the_speakers_own_day() -> None:
    (turn,) = body("**Ana** (2024-03-15T23:30:00-05:00): today")
    assert turn.at == datetime(2024, 3, 16, 4, 30, tzinfo=UTC)
    assert turn.terms_text == "speaker:ana\ntoday\n2024-03-15 15 March 2024"


def test_a_heading_above_a_turn_is_found_there() -> None:
    (turn,) = body("## Berlin trip\n**Ana**: packed")
    assert (turn.text, turn.embed_text) == ("## Berlin trip\n**Ana**: packed", "Ana: packed")
    assert "Berlin trip" in turn.terms_text


def test_a_bracket_that_is_no_date_is_no_time() -> None:
    (turn,) = body("**Ana** (laughs): hi")
    assert (turn.speaker, turn.at, turn.embed_text) == ("Ana", None, "Ana: hi")


def test_a_long_turn_is_cut_and_keeps_its_speaker() -> None:
    said = "I said this in one sentence. " * 60
    found = body(f"**Dr. Ana** (2023-05-08): {said}")
    assert len(found) > 2
    assert {(chunk.speaker, chunk.at) for chunk in found} == {("Dr. Ana", datetime(2023, 5, 8, tzinfo=UTC))}
    assert all(chunk.embed_text.startswith("Dr. Ana: I said") for chunk in found)
    assert "".join(texts(found)) == f"**Dr. Ana** (2023-05-08): {said}"


def test_a_budget_too_small_to_work_with_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        TokenBudget(15, count, len)
    with pytest.raises(ValueError, match="target 0"):
        TokenBudget(100, count, len, 0)


def test_texts_below_the_bound_are_not_counted() -> None:
    def never(texts: Sequence[str]) -> list[int]:
        raise AssertionError(texts)

    limits = TokenBudget(10_000, never, lambda text: len(text) + 1)
    assert len(chunks(HEAD + "# A\n\nText.\n\n**Ana**: hi\n", limits=limits)) == 3
