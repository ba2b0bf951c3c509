"""A thread that records a card finds it at once, whatever the others do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from cogvault.types import Action
from tests.vault.conftest import Shelf

THREADS = 8
EACH = 6


@pytest.mark.parametrize("refresh_seconds", [0, 3600])
def test_each_of_many_threads_finds_its_own_card(shelf: Shelf, refresh_seconds: int) -> None:
    vault = shelf.open(refresh_seconds=refresh_seconds)
    vault.sync()

    def record_and_find(thread: int) -> list[str]:
        missed = []
        for number in range(EACH):
            word = f"zebrafinch{thread}x{number}"
            written = vault.record(f"Somebody saw a {word} in the garden number {thread * EACH + number}.")
            if written.id not in [hit.id for hit in vault.search(word)]:
                missed.append(word)
        return missed

    with ThreadPoolExecutor(THREADS) as pool:
        missed = [word for words in pool.map(record_and_find, range(THREADS)) for word in words]
    assert missed == []
    assert len(vault.cards()) == THREADS * EACH


def test_layers_of_folders_know_what_was_recorded(shelf: Shelf) -> None:
    vault = shelf.open()
    vault.sync()
    vault.record("The heron nests at the pond.", title="Heron", to="user/ana/heron.md")
    assert vault.search("heron")
    assert "heron.md" in vault.layers("user/ana").overview
    vault.record("The otter swims at night.", title="Otter", to="user/ana/otter.md")
    assert vault.search("otter")
    assert "otter" in vault.layers("user").overview.lower()


def test_what_an_editor_wrote_is_not_recorded_again(shelf: Shelf) -> None:
    shelf.write("a.md", "# Tea\n\nAna likes tea.\n")
    vault = shelf.open()
    vault.sync()
    shelf.write("b.md", "# Dog\n\nBob has a dog.\n")
    again = vault.record("# Dog\n\nBob has a dog.")
    assert (again.action, again.id) == (Action.EXISTING, "b.md"), "a new file at once"
    shelf.write("a.md", "# Tea\n\nAna likes coffee since she moved to Lisbon.\n")
    vault.search("Lisbon")
    again = vault.record("# Tea\n\nAna likes coffee since she moved to Lisbon.")
    assert (again.action, again.id) == (Action.EXISTING, "a.md"), "a changed one after a look"
    assert vault.record("# Tea\n\nAna likes tea.").action is Action.CREATED


def test_who_has_only_recorded_looks_when_it_is_asked_for_the_first_time(shelf: Shelf) -> None:
    vault = shelf.open(refresh_seconds=10**9)  # longer than any machine runs
    vault.record("The heron nests at the pond.")
    shelf.write("kite.md", "The kite nests in the oak.\n")
    assert [hit.id for hit in vault.search("kite")] == ["kite.md"]
