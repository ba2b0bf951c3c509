from __future__ import annotations

import pytest
from hypothesis import given

from cogvault.layers.abstract import ABSTRACT_TOKENS, make_abstract
from cogvault.layers.digest import digest
from cogvault.layers.tokens import estimate_tokens
from tests.layers.support import abstract_of, body, card, hostile, paragraph

LONG = " ".join(
    f"Filler number {number} talks of weather, lunch and other idle matters at length." for number in range(30)
)


def test_the_description_goes_first() -> None:
    assert abstract_of("Some text.", description="What it\nis.") == "What it is."


def test_a_summary_key_serves_as_description() -> None:
    assert abstract_of("Some text.", meta={"summary": "In short."}) == "In short."


def test_a_summary_that_is_no_text_is_ignored() -> None:
    assert abstract_of("Some text.", meta={"summary": 7}) == "Some text."


def test_a_short_body_is_its_own_abstract() -> None:
    assert abstract_of("We keep everything. It is small.") == "We keep everything. It is small."


@pytest.mark.parametrize(
    "decision",
    [
        "On 2026-05-08 the team decided to move billing to PostgreSQL.",
        "Am 8. Mai 2026 wurde beschlossen, die Abrechnung auf PostgreSQL umzustellen.",
        "8 травня 2026 команда з Олена Коваль вирішила перенести білінг у PostgreSQL.",
        "8 мая 2026 команда с Ольга Ким решила перенести биллинг в PostgreSQL.",
        "2026年5月8日团队决定把结算迁移到PostgreSQL。",
        "El 8 de mayo de 2026 el equipo acordó en Lima un acuerdo: decidimos usar PostgreSQL.",
        "Le 8 mai 2026 nous avons choisi PostgreSQL pour la facturation.",
    ],
)
def test_the_sentence_with_date_and_decision_is_chosen(decision: str) -> None:
    assert decision in abstract_of(f"{LONG}\n\n{decision}\n\n{LONG}")


def test_sentences_stand_in_reading_order() -> None:
    text = "The queue is slow. We decided to use Postgres. The queue in Postgres is fast."
    assert abstract_of(text) == text


def test_code_is_never_quoted() -> None:
    assert "secret_call" not in abstract_of("Some prose.\n\n```\nsecret_call() is the most central. secret_call()\n```")


def test_chinese_sentences_join_without_blanks() -> None:
    assert abstract_of("部署流程。\n\n回滚步骤。") == "部署流程。回滚步骤。"


def test_a_dialogue_says_who_spoke_and_when() -> None:
    text = (
        "**Ana** (2024-03-15T10:30:00Z): We take Postgres.\n\n**Wei** (2024-03-15T10:31:00Z): Agreed, Postgres it is."
    )
    assert abstract_of(text) == "Ana, Wei (2024-03-15). Ana: We take Postgres. Wei: Agreed, Postgres it is."


def test_a_compact_time_names_its_day_and_a_word_none() -> None:
    text = "**Ana** (20240315T103000Z): We take Postgres.\n\n**Wei** (later): Agreed, Postgres it is."
    assert abstract_of(text).startswith("Ana, Wei (2024-03-15). Ana:")


def test_bold_labels_are_no_speakers_but_stay() -> None:
    assert (
        abstract_of("**Decision**: Use Postgres.\n\n**Reason**: It is there.")
        == "Decision: Use Postgres. Reason: It is there."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "A card"),
        ("  \n\n", "A card"),
        ("```\nonly code\n```", "A card"),
        ("# One\n\n## Two", "One; Two"),
        ("- [ ] buy milk\n- [ ] sell milk", "buy milk; sell milk"),
    ],
)
def test_a_card_without_sentences_still_has_an_abstract(text: str, expected: str) -> None:
    assert abstract_of(text) == expected


def test_a_first_sentence_without_end_is_cut() -> None:
    abstract = abstract_of("word " * 2000)
    assert abstract.endswith("word…")
    assert estimate_tokens(abstract) <= ABSTRACT_TOKENS


@given(paragraph)
def test_an_abstract_is_made_of_sentences_of_the_card_in_order(text: str) -> None:
    source = digest("t", text)
    rest = make_abstract(card(text), source)
    for sentence in source.sentences:
        assert sentence.text in text
        rest = rest.removeprefix(sentence.text).lstrip()
    assert rest == ""


@given(body)
def test_abstracts_are_deterministic_and_bounded(text: str) -> None:
    abstract = abstract_of(text)
    assert abstract == abstract_of(text)
    assert abstract
    assert estimate_tokens(abstract) <= ABSTRACT_TOKENS


@given(hostile)
def test_any_body_has_an_abstract(text: str) -> None:
    assert 0 < estimate_tokens(abstract_of(text)) <= ABSTRACT_TOKENS
