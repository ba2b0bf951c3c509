from __future__ import annotations

import pytest
from hypothesis import given

from cogvault.layers.overview import MAX_TOKENS, MIN_TOKENS, OWN_TOKENS
from cogvault.layers.tokens import estimate_tokens
from tests.layers.support import body, hostile, overview_of

FILLER = "\n\n".join(
    f"Paragraph {number} tells of queue {number}, worker {number * 7} and of what broke there. It was mended by hand."
    for number in range(40)
)


def part(overview: str, title: str) -> list[str]:
    found = [piece for piece in overview.split("\n\n## ") if piece.removeprefix("## ").startswith(title)]
    return found[0].split("\n")[2:] if found else []


def test_a_short_card_is_its_own_overview() -> None:
    assert overview_of("# One\n\nJust this.\n") == "# One\n\nJust this."


def test_an_empty_card_has_an_empty_overview() -> None:
    assert overview_of(" \n") == ""


def test_the_outline_nests_and_leaves_the_title_out() -> None:
    text = f"# A card\n\n{FILLER}\n\n## First\n\nText.\n\n### Inner\n\nText.\n\n## Second\n\nText."
    assert part(overview_of(text), "Outline") == ["- First", "  - Inner", "- Second"]


def test_every_section_gives_a_key_point() -> None:
    text = "\n\n".join(
        f"## Part {name}\n\nThe {name} service runs alone. {FILLER[:600]}" for name in ("red", "green", "blue")
    )
    points = "\n".join(part(overview_of(text), "Key points"))
    assert all(f"The {name} service" in points for name in ("red", "green", "blue"))


def test_names_are_listed() -> None:
    text = f"Then Mara Lind moved svc_payments. Later Mara Lind told @wei.\n\n{FILLER}"
    assert part(overview_of(text), "Names") == ["Mara Lind, svc_payments, @wei"]


def test_the_timeline_is_in_order_of_time() -> None:
    later = "Am 8. Mai 2023 begonnen.\n\n2023年5月10日完成。\n\n11 травня 2023 перевірено."
    text = f"Moved on May 9, 2023.\n\n{FILLER}\n\n{later}"
    assert part(overview_of(text), "Timeline") == [
        "- 2023-05-08: Am 8. Mai 2023 begonnen.",
        "- 2023-05-09: Moved on May 9, 2023.",
        "- 2023-05-10: 2023年5月10日完成。",
        "- 2023-05-11: 11 травня 2023 перевірено.",
    ]


def test_open_tasks_are_listed_and_done_ones_are_not() -> None:
    text = f"{FILLER}\n\n- [ ] write it\n- [x] read it\n\nTODO: test it"
    assert part(overview_of(text), "Open to-dos") == ["- [ ] write it", "- [ ] test it"]


def test_code_is_left_out() -> None:
    assert "secret_call" not in overview_of(f"{FILLER}\n\n```\nsecret_call() decided on 2023-05-08.\n```")


def test_a_dialogue_tells_speakers_and_what_each_said() -> None:
    turns = [
        f"**{who}** (2024-03-15T10:{minute:02}:00Z): Point {minute} of {who} about queue {minute % 5} is long."
        for minute, who in enumerate(["Ana", "Wei", "Ana", "Олена"] * 10)
    ]
    overview = overview_of("\n\n".join(turns))
    assert part(overview, "Speakers") == ["- Ana: 20", "- Wei: 10", "- Олена: 10"]
    points = "\n".join(part(overview, "Key points"))
    assert all(f"- {who}: Point" in points for who in ("Ana", "Wei", "Олена"))


def test_a_long_card_has_500_to_2000_tokens() -> None:
    nouns = ["queue", "worker", "cache", "bridge", "valley", "lemon", "piano", "glacier", "mortar", "violin", "copper"]
    lines = [f"The {one} met a {other} in the {third}." for one in nouns for other in nouns for third in nouns[:4]]
    text = "\n\n".join(f"## Part {number}\n\n" + " ".join(lines[number::20]) for number in range(20))
    assert MIN_TOKENS <= estimate_tokens(overview_of(text)) <= MAX_TOKENS


def test_only_code_is_shown_as_it_begins() -> None:
    overview = overview_of("```\n" + "line of code\n" * 200 + "```")
    assert overview.startswith("```\nline of code")
    assert estimate_tokens(overview) <= MIN_TOKENS


@given(body)
def test_overviews_are_deterministic_and_never_longer_than_the_card(text: str) -> None:
    overview = overview_of(text)
    assert overview == overview_of(text)
    assert len(overview) <= len(text)
    assert estimate_tokens(overview) <= max(OWN_TOKENS, min(MAX_TOKENS, estimate_tokens(text)))


@given(hostile)
def test_any_body_has_an_overview(text: str) -> None:
    assert len(overview_of(text)) <= len(text)


HOSTILE = {
    "one line": "word " * 4_000_000,
    "one word": "x" * 20_000_000,
    "no letters": "\0\x01\x7f" * 1_000_000,
    "blank lines": "\n" * 4_000_000,
    "quotes": ">" * 2_000_000,
    "backticks": "`a" * 1_000_000,
    "brackets": "「" * 1_000_000,
    "capitals": "Aa-" * 1_000_000,
    "underscores": "a_" * 1_000_000,
    "digits": "1234" * 1_000_000,
    "rules": "- " * 1_000_000 + "x",
    "hashes": "# " * 1_000_000,
    "bold": "**a " * 1_000_000,
    "sentences": "Aa. " * 1_000_000,
    "han": "数" * 2_000_000,
    "items": "- [ ] a\n" * 500_000,
    "headings": "# a\n" * 500_000,
    "marks": "e\u0301" * 1_000_000,
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_card_takes_bounded_time_and_space(name: str) -> None:
    assert estimate_tokens(overview_of(HOSTILE[name])) <= MAX_TOKENS
