"""Many at once: threads that search and sync see whole cards, and nothing of what is gone."""

from __future__ import annotations

import gc
import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cogvault import Hits, Vault
from cogvault.embedders import HashingEmbedder
from cogvault.errors import CogvaultError
from cogvault.indexing.scan import ScanResult, scan
from cogvault.types import Status
from tests.vault.conftest import Shelf, ids


def at_once(*work: Callable[[], None]) -> None:
    """Run all of these at the same time; the first error of any is raised."""
    start = threading.Barrier(len(work))
    wrong: list[BaseException] = []

    def run(job: Callable[[], None]) -> None:
        start.wait()
        try:
            job()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def replace(file: Path, text: str) -> None:
    """Exchange a file at one blow, as editors do."""
    new = file.with_name(f".{file.name}.{threading.get_ident()}")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


@pytest.mark.parametrize(("wait_seconds", "expected"), [(60.0, Status.OK), (0.01, Status.STALE)])
def test_who_asks_while_another_thread_looks_waits_for_it_or_says_stale(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, wait_seconds: float, expected: Status
) -> None:
    shelf.write("a.md", "wombat\n")
    with shelf.open() as before:
        before.sync()
    shelf.write("b.md", "wombat\n")
    vault = shelf.open(refresh_seconds=3600)
    answers: list[Hits] = []
    second = threading.Thread(target=lambda: answers.append(vault.search("wombat")))

    def scanned(*arguments: Any) -> ScanResult:
        if second.ident is None:
            second.start()
            # Ends at once, if it does not wait for this look.
            second.join(0.5 if expected is Status.OK else 60)
        return scan(*arguments)

    monkeypatch.setattr("cogvault.engine.FIRST_LOOK_SECONDS", wait_seconds)
    monkeypatch.setattr("cogvault.indexing.sync.scan", scanned)
    first = vault.search("wombat")
    second.join()
    assert (ids(first), first.status) == (["a.md", "b.md"], Status.OK)
    assert [hits.status for hits in answers] == [expected]
    assert ids(answers[0]) == (["a.md", "b.md"] if expected is Status.OK else ["a.md"])
    assert vault.search("wombat").status is Status.OK


def test_eight_threads_search_and_sync_one_vault(shelf: Shelf) -> None:
    for number in range(40):
        shelf.write(f"{number}.md", f"# Card {number}\n\nwombat number{number} digs\n")
    vault = shelf.open(embedder=HashingEmbedder(32))
    done = threading.Event()

    def search(seed: int) -> Callable[[], None]:
        def work() -> None:
            chosen = random.Random(seed)
            for _ in range(25):
                number = chosen.randrange(20)  # those that nobody edits
                hits = vault.search(f"wombat number{number}", k=3)
                assert hits[0].id == f"{number}.md"
                assert hits.status in (Status.OK, Status.DEGRADED, Status.STALE)
                assert hits[0].title == f"Card {number}"
                vault.status()
                vault.cards()
                vault.read(f"{number}.md")

        return work

    def sync(seed: int) -> Callable[[], None]:
        def work() -> None:
            chosen = random.Random(seed)
            for step in range(10):
                number = chosen.randrange(20, 40)
                replace(shelf.root / f"{number}.md", f"# Card {number}\n\nquokka step{seed}x{step}\n")
                assert vault.sync().failed == ()

        return work

    vault.sync()
    at_once(*(search(seed) for seed in range(5)), *(sync(seed) for seed in range(3)))
    done.set()
    vault.sync()
    assert (vault.status().status, vault.status().cards, vault.status().pending) == (Status.OK, 40, 0)
    fresh = shelf.open(embedder=HashingEmbedder(32), index_dir=shelf.caches / "fresh")
    fresh.sync()
    for query in ("wombat number7", "quokka", "card 33"):
        assert _answer(vault, query) == _answer(fresh, query)


def _answer(vault: Vault, query: str) -> list[tuple[str, float, str]]:
    return [(hit.id, round(hit.score, 4), hit.text) for hit in vault.search(query, k=10, min_score=0.0)]


def test_a_search_during_a_sync_sees_the_old_card_or_the_new_one(shelf: Shelf) -> None:
    def text(version: int) -> str:
        parts = "\n\n".join(f"## Part {part} v{version}\n\nwombat v{version} burrow" for part in range(6))
        return f"---\ntitle: Title v{version}\ntags: [v{version}]\ntype: v{version}\n---\n{parts}\n"

    file = shelf.write("a.md", text(0))
    for number in range(10):
        shelf.write(f"other{number}.md", f"# Other {number}\n\nquokka\n")
    vault = shelf.open(embedder=HashingEmbedder(32), hits_per_card=0, refresh_seconds=3600)
    vault.sync()
    ended = threading.Event()

    def write() -> None:
        for version in range(1, 16):
            replace(file, text(version))
            vault.sync()
        ended.set()

    def read() -> None:
        seen: set[str] = set()
        while not ended.is_set():
            hits = vault.search("wombat burrow", k=20, min_score=0.0, budget_tokens=2000, explain=True)
            mine = [hit for hit in hits if hit.id == "a.md"]
            assert mine, hits
            versions = {
                word
                for hit in mine
                for word in (*hit.tags, hit.type or "", hit.title.split()[-1], *hit.text.split())
                if word.startswith("v") and word[1:].isdigit()
            }
            assert len(versions) == 1, versions
            told = {word for word in hits.text.split() if word.startswith("v") and word[1:].isdigit()}
            assert told <= versions
            seen |= versions
        assert seen

    at_once(write, read, read, read)


SECRETS = {
    "title": "xylophonist",
    "name": "quetzalcoatl",
    "alias": "zygomorphic",
    "tag": "brobdingnag",
    "value": "sesquipedal",
    "text": "antidisestab",
    "heading": "floccinauci",
    "file": "honorificab",
    "link": "pneumonoultra",
    "todo": "hippopotomon",
}
CANARY = """---
title: The {title} plan
name: {name}
aliases: [{alias}]
tags: [{tag}]
owner: {value}
created: 2026-99-99 {value}
---
# {heading}

The {text} burrow of the wombat, see [[{link}]].

- [ ] fix the {todo} burrow by 2026-05-01
"""


def lose(shelf: Shelf, file: Path, way: str) -> None:
    """Take a card out of the vault."""
    if way == "delete":
        file.unlink()
    elif way == "rename out":
        file.rename(shelf.root.parent / "elsewhere.md")
    elif way == "hide":
        file.rename(file.with_name(".hidden.md"))
    else:
        shelf.write(".cogvaultignore", "folder/honor*\n")


def everything_said(shelf: Shelf, vault: Vault) -> list[str]:
    """Every kind of answer that a vault gives, errors included."""
    said = [json.dumps(vault.status().to_dict()), str(vault.cards())]
    said.extend(str(vault.layers(id)) for id in ("", "folder", "folder/1.md"))
    arguments: list[dict[str, Any]] = [{}, {"min_score": 0.0, "k": 50}, {"budget_tokens": 4000, "explain": True}]
    for ranker in ("keyword", "semantic", "title"):
        alone = shelf.open(embedder=HashingEmbedder(32), rankers=(ranker,))
        for query in ("wombat burrow", "the plan", "fix todo", "nothing of the kind"):
            for each in arguments:
                hits = alone.search(query, **each)
                said.extend((json.dumps(hits.to_dict(), ensure_ascii=False), hits._repr_html_(), str(hits), hits.text))
    asks: list[Callable[[str], object]] = [vault.read, vault.layers]
    for ask in asks:
        with pytest.raises(CogvaultError) as caught:
            ask("folder/none.md")
        said.append(str(caught.value))
    return said


@pytest.mark.parametrize("way", ["delete", "rename out", "hide", "ignore"])
def test_nothing_of_a_card_that_is_gone_is_said_or_kept(shelf: Shelf, way: str) -> None:
    file = shelf.write(f"folder/{SECRETS['file']}.md", CANARY.format(**SECRETS))
    for number in range(5):
        shelf.write(f"folder/{number}.md", f"# Card {number}\n\nThe burrow of wombat {number}. See [[1]].\n")
    vault = shelf.open(embedder=HashingEmbedder(32))
    vault.sync()
    before = "".join(everything_said(shelf, vault)).lower()
    assert [word for word in SECRETS.values() if word not in before] == []  # or the test would look in the wrong places
    lose(shelf, file, way)
    vault.sync()
    words = [word for word in SECRETS.values() if way != "ignore" or word != SECRETS["file"]]  # which the pattern names
    said = everything_said(shelf, vault)
    assert [word for word in words if any(word in text.lower() for text in said)] == []
    gc.collect()  # a view of the past keeps its text in SQLite's log until the first change after it
    shelf.write("folder/after.md", "another\n")
    vault.sync()
    shelf.close()
    kept = {path: path.read_bytes().lower() for path in shelf.indexes.rglob("*") if path.is_file()}
    assert len(kept) > 5
    assert [(word, path) for path, data in kept.items() for word in words if word.encode() in data] == []


def test_a_card_that_is_exchanged_for_another_leaves_no_word(shelf: Shelf) -> None:
    """The same id, other text: the old words find nothing in any ranker."""
    shelf.write("a.md", CANARY.format(**SECRETS))
    vault = shelf.open(embedder=HashingEmbedder(32))
    vault.sync()
    shelf.write("a.md", "# Plain\n\nnothing to see\n")
    vault.sync()
    for word in SECRETS.values():
        assert ids(vault.search(word)) == [] or vault.search(word).status is not Status.OK
    for ranker in ("keyword", "title"):
        alone = shelf.open(rankers=(ranker,))
        for word in SECRETS.values():
            assert ids(alone.search(word, min_score=0.0)) == []
    assert vault.cards()[0].problems == ()
    assert os.listdir(shelf.root) == ["a.md"]  # noqa: PTH208
