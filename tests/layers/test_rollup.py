from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from cogvault.layers.abstract import ABSTRACT_TOKENS
from cogvault.layers.overview import MAX_TOKENS
from cogvault.layers.rollup import MAX_CHILDREN, FolderLayers, RollupChange, roll_up
from cogvault.layers.tokens import estimate_tokens
from cogvault.types import CardLayers

Cards = Mapping[str, FolderLayers]


def child(text: str) -> FolderLayers:
    """A card; its layers and their hash are the same value as a folder's."""
    return FolderLayers(hash=text, abstract=f"{text} is about queues.", overview=f"## Key points\n\n- {text}.")


def rolled(cards: Cards, previous: Cards, asked: list[str] | None = None) -> RollupChange:
    def reader(texts: Cards) -> Callable[[Sequence[str]], Sequence[CardLayers]]:
        def read(ids: Sequence[str]) -> Sequence[CardLayers]:
            (asked if asked is not None else []).extend(ids)
            return [CardLayers(texts[id].abstract, texts[id].overview) for id in ids]

        return read

    before, now = ({id: layers.hash for id, layers in texts.items()} for texts in (previous, cards))
    return roll_up(now, before, reader(cards), reader(previous))


def applied(previous: Cards, change: RollupChange) -> dict[str, FolderLayers]:
    return {path: layers for path, layers in {**previous, **change.put}.items() if path not in change.remove}


def made(children: Cards) -> dict[str, FolderLayers]:
    return applied({}, rolled(children, {}))


VAULT = {
    "top.md": child("Top"),
    "user/ana/goals.md": child("Goals"),
    "user/ana/events.md": child("Events"),
    "agent/x/cases.md": child("Cases"),
}


def test_every_folder_above_a_card_has_layers() -> None:
    assert set(made(VAULT)) == {"", "user", "user/ana", "agent", "agent/x"}


def test_a_folder_shows_its_children_under_their_names() -> None:
    assert made(VAULT)["user/ana"].overview == (
        "## events.md\n\n#### Key points\n\n- Events.\n\n## goals.md\n\n#### Key points\n\n- Goals."
    )
    assert made(VAULT)["user/ana"].abstract == "Events is about queues. Goals is about queues."


def test_a_folder_tells_of_its_folders() -> None:
    root = made(VAULT)[""]
    assert "## user/\n" in root.overview
    assert "Goals" in root.overview


def test_nothing_changed_makes_nothing_anew() -> None:
    assert rolled(VAULT, made(VAULT)) == RollupChange({}, (), 5)


def test_a_change_reaches_the_root_and_nothing_beside_its_way() -> None:
    change = rolled({**VAULT, "user/ana/goals.md": child("New goals")}, made(VAULT))
    assert set(change.put) == {"user/ana", "user", ""}
    assert (change.remove, change.skipped) == ((), 2)


def test_only_what_a_changed_folder_shows_is_read() -> None:
    asked: list[str] = []
    rolled({**VAULT, "user/ana/goals.md": child("New goals")}, made(VAULT), asked)
    assert sorted(asked) == ["agent", "top.md", "user/ana/events.md", "user/ana/goals.md"]
    asked.clear()
    rolled(VAULT, made(VAULT), asked)
    assert asked == []
    rolled({f"{number}.md": child(f"Card {number}") for number in range(1000)}, {}, asked)
    assert len(asked) == MAX_CHILDREN


def test_a_renamed_card_changes_its_folder() -> None:
    cards = {**VAULT, "user/ana/aims.md": VAULT["user/ana/goals.md"]}
    del cards["user/ana/goals.md"]
    assert "aims.md" in rolled(cards, made(VAULT)).put["user/ana"].overview


def test_emptied_folders_lose_their_layers() -> None:
    cards = {id: layers for id, layers in VAULT.items() if not id.startswith("user/")}
    change = rolled(cards, made(VAULT))
    assert change.remove == ("user", "user/ana")
    assert set(change.put) == {""}


def test_the_last_card_takes_all_folders_with_it() -> None:
    assert rolled({}, made(VAULT)) == RollupChange({}, ("", "agent", "agent/x", "user", "user/ana"), 0)


def test_what_does_not_fit_is_counted() -> None:
    overview = made({f"{number:04}.md": child(f"Card {number}") for number in range(3000)})[""].overview
    assert estimate_tokens(overview) <= MAX_TOKENS
    shown = sum(line.startswith("## ") for line in overview.split("\n"))
    assert overview.endswith(f"… {3000 - shown} more")
    assert shown > 20


def test_a_card_and_a_folder_of_one_name_are_both_shown() -> None:
    overview = made({"a": child("Card"), "a/b.md": child("Inner")})[""].overview
    assert "## a\n" in overview
    assert "## a/\n" in overview


paths = st.lists(st.sampled_from(["a", "b", "c"]), min_size=0, max_size=3).flatmap(
    lambda folders: st.sampled_from(["x.md", "y.md"]).map(lambda name: "/".join([*folders, name]))
)
layers = st.builds(
    lambda text, size: FolderLayers(
        f"{text}{size}", f"{text} said so. And more.", f"## Key points\n\n- {text}. " + "word " * size
    ),
    st.sampled_from(["Postgres queue", "Mara decided", "数据库", "Черга", ""]),
    st.sampled_from([0, 50, 3000]),
)
vaults = st.dictionaries(paths, layers, max_size=12)


@given(vaults, vaults)
def test_step_by_step_equals_from_scratch(before: dict[str, FolderLayers], after: dict[str, FolderLayers]) -> None:
    assert applied(made(before), rolled(after, made(before))) == made(after)


@given(vaults)
def test_folders_are_bounded(children: dict[str, FolderLayers]) -> None:
    for folder in made(children).values():
        assert estimate_tokens(folder.abstract) <= ABSTRACT_TOKENS
        assert estimate_tokens(folder.overview) <= MAX_TOKENS
