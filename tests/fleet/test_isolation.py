"""What one tenant knows never shows to another, through whatever call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cogvault import Config, Fleet, Vault
from cogvault.errors import CogvaultError
from cogvault.fleet import TENANTS

CANARY = "xyzzyplugh"
TITLE = f"Secret of {CANARY}"
B_CARD = f"""\
---
title: {TITLE}
name: {CANARY}
aliases: [{CANARY}-alias]
tags: [othertag, {CANARY}tag]
type: othertype
key: other
description: All about {CANARY}.
---
The password hint is {CANARY}. [[shared]]

**{CANARY}speaker** (2026-05-01T10:00:00Z): I said {CANARY} yesterday.
"""


@dataclass(frozen=True)
class World:
    """Two tenants who use the same words, the same file names and link to each other's cards."""

    root: Path
    fleet: Fleet

    @property
    def other(self) -> Path:
        return self.root / TENANTS / "b"


@pytest.fixture(scope="module", params=["none", "hashing"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    tmp_path = tmp_path_factory.mktemp("fleet")
    root = tmp_path / "root"
    for tenant in ("a", "b"):
        folder = root / TENANTS / tenant
        folder.mkdir(parents=True)
        (folder / "shared.md").write_text("# Shared\n\nThe password hint is in the other vault. [[secret]]\n")
    (root / TENANTS / "b" / "secret.md").write_text(B_CARD)
    (root / TENANTS / "a" / "links.md").write_text(
        f"# Links\n\n[[../b/secret]] [[secret]] ![[../b/secret.md]] [x](../b/secret.md) [[{TENANTS}/b/secret]]\n"
    )
    (root / TENANTS / "a" / "escape.md").symlink_to(root / TENANTS / "b" / "secret.md")
    (root / TENANTS / "a" / "folder").symlink_to(root / TENANTS / "b")
    config = Config(model=request.param, recursive=True, index_dir=tmp_path / "indexes", cache_dir=tmp_path / "cache")
    with Fleet(root, config) as fleet:
        for tenant in ("b", "a"):  # the other first, so that all that is shared has seen its words
            with fleet.vault(tenant) as vault:
                vault.sync()
                vault.search(f"{CANARY} password hint", explain=True)
        yield World(root, fleet)


SEARCHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "no threshold": {"min_score": 0.0, "k": 50},
    "explained": {"explain": True, "min_score": 0.0},
    "packed": {"budget_tokens": 2000},
    "abstracts": {"budget_tokens": 2000, "layer": "L0"},
    "path of the other": {"path": "../b"},
    "folder that leads away": {"path": "folder"},
    "address of the other": {"path": f"cogvault://resources/../{TENANTS}/b"},
    "type of the other": {"type": "othertype"},
    "tag of the other": {"tags": ["othertag"]},
    "key of the other": {"where": {"key": "other"}},
    "as of": {"as_of": "2026-05-02"},
}
IDS = ("../b/secret.md", "secret.md", "folder/secret.md", "escape.md", f"cogvault://resources/../{TENANTS}/b/secret.md")


@pytest.mark.parametrize("query", ["password hint", "secret", "what was said on 1 May 2026", "Secret of"])
@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
def test_no_answer_shows_a_word_of_another_tenant(
    world: World, caplog: pytest.LogCaptureFixture, query: str, options: dict[str, Any]
) -> None:
    caplog.set_level(logging.DEBUG)

    def ask(vault: Vault) -> object:
        hits = vault.search(query, **options)
        return hits, hits.to_dict(), hits.near_misses, hits._repr_html_()

    assert CANARY not in _told(world, ask)
    assert CANARY not in caplog.text


@pytest.mark.parametrize("id", IDS)
def test_no_id_reads_a_card_of_another_tenant(world: World, id: str) -> None:
    for call in (lambda vault: vault.read(id), lambda vault: vault.layers(id)):
        assert CANARY not in _told(world, call)


def test_nothing_else_tells_of_another_tenant(world: World) -> None:
    assert CANARY not in _told(world, lambda vault: (vault.cards(), vault.status(), vault.status().to_dict()))
    assert CANARY not in _told(world, lambda vault: vault.sync(verify=True))
    assert CANARY not in _told(world, lambda vault: vault.layers())


def test_a_question_about_the_other_finds_what_it_found_before_the_other_came(world: World, tmp_path: Path) -> None:
    """Scores of one tenant do not move with what another one holds: neither counts nor caches leak."""
    with world.fleet.vault("a") as beside:
        config = beside.config.model_copy(update={"index_dir": tmp_path / "alone", "cache_dir": tmp_path / "own"})
        with Vault(beside.path, config) as alone:
            for query in ("password hint", CANARY, "secret"):
                ours, own = (vault.search(query, min_score=0.0, explain=True) for vault in (beside, alone))
                assert [(hit.id, hit.score, hit.parts) for hit in ours] == [(h.id, h.score, h.parts) for h in own]


def test_a_search_of_several_keeps_each_tenants_hits_its_own(world: World) -> None:
    hits = world.fleet.search(f"{CANARY} password hint", ["a", "b"], k=20, min_score=0.0)
    assert CANARY in repr([item for item in hits if item.tenant == "b"])
    assert CANARY not in repr([item.hit.text + item.hit.title for item in hits if item.tenant == "a"])


def test_the_index_of_one_tenant_holds_no_word_of_another(world: World, tmp_path: Path) -> None:
    with world.fleet.vault("a") as vault:
        folder = Path(vault.status().index)
    assert folder.is_dir()
    held = [file for file in folder.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()]
    assert held == []


def _told(world: World, call: Callable[[Vault], object]) -> str:
    """All that a call on the first tenant's vault says, also when it refuses."""
    with world.fleet.vault("a") as vault:
        try:
            return repr(call(vault))
        except CogvaultError as error:
            return f"{error!r} {error.path} {error.hint}"
