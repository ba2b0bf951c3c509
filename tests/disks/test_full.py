"""A disk that is full at any write: a clear error, the earlier state serves, and it heals when there is room again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault import Vault
from cogvault.errors import CogvaultError
from cogvault.types import Status
from tests.disks.conftest import SmallDisk, config

WORDS = ("numbat", "bilby", "quokka", "wombat", "kowari")


def write_cards(folder: Path, first: int, count: int, word: str) -> None:
    """Cards of about 6 KB, no two alike."""
    for number in range(first, first + count):
        text = "\n\n".join(f"{word} {WORDS[(number + line) % 5]} x{number}y{line}z " * 3 for line in range(60))
        (folder / f"{number}.md").write_text(f"# Card {number}\n\n{text}\n")


def answers(vault: Vault) -> list[list[tuple[str, float]]]:
    """What a few queries find in the index as it is, scores in thousandths."""
    queries = ("numbat bilby", "old card 3", "new quokka", "x7y3z", "x25y1z")
    return [[(hit.id, round(hit.score, 3)) for hit in vault.search(query, k=20, sync=False)] for query in queries]


# From nothing at all to nearly enough: the lock, the catalog, its log, the keyword folder's files and their merge.
@pytest.mark.parametrize("free_kilobytes", [0, 64, 400, 800, 1300, 2000, 3200])
@pytest.mark.parametrize("has_index", [True, False])
def test_a_full_disk_costs_nothing_but_time(
    small_disk: SmallDisk, tmp_path: Path, free_kilobytes: int, has_index: bool
) -> None:
    folder, settings = tmp_path / "vault", config(small_disk.folder / "indexes")
    folder.mkdir()
    write_cards(folder, 0, 10, "old")
    with Vault(folder, settings) as vault:
        if has_index:
            vault.sync()
        small_disk.leave(free_kilobytes)
        write_cards(folder, 5, 30, "new")
        is_full = _fails_clearly(vault)
        if has_index and is_full:
            hits = vault.search("x3y7z")  # a card that did not change
            assert hits[0].id == "3.md"
            assert hits.status is Status.STALE
            assert "full" in hits.reason or "No space" in hits.reason
            assert vault.search("x7y3z")[0].id == "7.md"  # as it was, or as it is now
            assert vault.status().cards >= 10
        small_disk.resize(65_536)
        vault.sync()
        assert vault.status().status is Status.OK
        healed = answers(vault)
        assert vault._resources.index().verify() == []  # noqa: SLF001
    with Vault(folder, config(tmp_path / "fresh")) as fresh:
        fresh.sync()
        assert answers(fresh) == healed


def _fails_clearly(vault: Vault) -> bool:
    """True when a sync did not fit, which its error says."""
    try:
        vault.sync()
    except CogvaultError as error:
        told = str(error)
    else:
        return False
    assert "full" in told or "No space" in told, told
    return True


def test_an_index_that_was_never_made_for_want_of_room_is_a_failure_not_an_empty_vault(
    small_disk: SmallDisk, vault_folder: Path
) -> None:
    small_disk.leave(0)
    with Vault(vault_folder, config(small_disk.folder / "indexes")) as vault:
        with pytest.raises(CogvaultError, match=r"full|No space"):
            vault.search("number3")
        small_disk.resize(65_536)
        assert vault.search("number3")[0].id == "3.md"


def test_a_process_that_starts_on_a_full_disk_searches_what_is_there(small_disk: SmallDisk, vault_folder: Path) -> None:
    settings = config(small_disk.folder / "indexes")
    with Vault(vault_folder, settings) as vault:
        vault.sync()
    small_disk.leave(0)
    with Vault(vault_folder, settings) as vault:
        assert vault.search("number3")[0].id == "3.md"
        assert vault.status().cards == 5
