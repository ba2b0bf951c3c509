"""Many processes on one vault: nothing is lost, nothing is seen by halves, nothing is made twice.

``COGVAULT_PROCESSES_SECONDS`` sets how long they are at it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cogvault.indexes import LocalIndex
from cogvault.types import IndexIdentity
from tests.crash.worker import LoggingEmbedder
from tests.indexing.support import content
from tests.processes import cards
from tests.processes.actor import opened
from tests.settling import settle

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the actors fork")

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("COGVAULT_PROCESSES_SECONDS", "10"))
WRITERS, SEARCHERS, SYNCERS = 4, 8, 6
WAL_BYTES = 16 * 2**20


class Actors:
    """Processes of ``actor.py``."""

    def __init__(self, base: Path, roles: Sequence[tuple[str, str]]) -> None:
        self._base, self._roles = base, roles
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.processes.actor", str(base)],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(roles) + "\n")
        self._process.stdin.close()

    def wait_for(self, names: Sequence[str]) -> None:
        """Wait until these have told what they did; the bound is only there so that a broken test ends."""
        end = time.monotonic() + 90
        while not all((self._base / f"{name}.json").exists() for name in names):
            assert time.monotonic() < end, "they never ended"
            time.sleep(0.02)

    def stop(self) -> dict[str, Any]:
        """What each of them tells, by name."""
        (self._base / "stop").touch()
        assert self._process.wait(timeout=120) == 0
        told = {name: json.loads((self._base / f"{name}.json").read_text()) for _, name in self._roles}
        errors = [f"{name}: {each['error']}" for name, each in told.items() if "error" in each]
        assert not errors, "\n".join(errors)
        return told


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path.resolve()


def held(base: Path) -> dict[str, object]:
    """What an index says after a sync, without what differs between equal ones."""
    with opened(base) as vault:
        report = vault.sync(verify=True)
        assert (report.failed, report.pending_vectors) == ((), 0)
        folder = Path(vault.status().index)
    index = LocalIndex(folder)
    try:
        assert index.verify() == []
        found = content(index, LoggingEmbedder(base / "log", "one"))
        identity = found["identity"]
        assert isinstance(identity, IndexIdentity)
        # A mean of numbers that come in the order of chunk ids.
        return {**found, "identity": replace(identity, floor=round(identity.floor or 0, 4))}
    finally:
        index.close()


def edit_by_hand(base: Path, seconds: float) -> int:
    """Edits and deletions by hand for so long; gives the largest size of the write-ahead log that was seen."""
    rng = random.Random(3)
    largest = version = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        file = base / "vault" / f"hand{rng.randrange(8)}.md"
        version += 1
        if rng.random() < 0.3:
            file.unlink(missing_ok=True)
        else:
            cards.overwrite(file, cards.text(file.stem, version, rng))
        for log in (base / "index").rglob("catalog.sqlite-wal"):
            largest = max(largest, log.stat().st_size)
        time.sleep(0.02)
    return largest


@pytest.mark.timeout(SECONDS + 170)
def test_writers_and_searchers_at_once_lose_nothing_and_see_no_half(base: Path, tmp_path_factory: Any) -> None:
    roles = [("writer", f"w{number}") for number in range(WRITERS)]
    roles += [("searcher", f"s{number}") for number in range(SEARCHERS)]
    actors = Actors(base, roles)
    largest_log = edit_by_hand(base, SECONDS)
    told = actors.stop()
    writers = [told[f"w{number}"] for number in range(WRITERS)]
    searchers = [told[f"s{number}"] for number in range(SEARCHERS)]
    assert all(each["checks"] for each in writers)
    for each in searchers:
        assert each["whole"]
        assert sum(each["counts"].values()) > each["counts"]["failed"] == 0
    assert 0 < largest_log < WAL_BYTES

    mine = held(base)
    titles = {card.id: card.title for card in mine["cards"]}  # type: ignore[attr-defined]
    written = {id: f"title {marker}" for each in writers for id, marker in each["cards"].items()}
    assert {id: title for id, title in titles.items() if not id.startswith("hand")} == written
    fresh = Path(tmp_path_factory.mktemp("fresh"))
    (fresh / "vault").symlink_to(base / "vault")
    assert mine == held(fresh)


def test_syncs_of_several_processes_at_once_embed_each_text_once(base: Path) -> None:
    rng = random.Random(5)
    for number in range(40):
        cards.save(base / "vault" / f"n{number}.md", cards.text(f"n{number}", 1, rng))
    told = Actors(base, [("sync", f"p{number}") for number in range(SYNCERS)]).stop()
    assert [each["pending"] for each in told.values()] == [0] * SYNCERS
    embedded = (base / "log").read_text(encoding="utf-8").splitlines()
    with opened(base) as vault:
        assert len(embedded) == len(set(embedded)) == vault.status().vectors == 40 * cards.PARTS


def test_searches_are_answered_in_the_middle_of_every_kind_of_writing(base: Path) -> None:
    rng = random.Random(7)
    for number in range(10):
        cards.save(base / "vault" / f"n{number}.md", cards.text(f"n{number}", 1, rng))
    settle(base / "vault")
    held(base)
    askers = [f"a{number}" for number in range(SEARCHERS)]
    # Nothing changed: nobody has to be waited for, and the answers are as good as ever.
    actors = Actors(base, [("holder", "h"), *(("asker", name) for name in askers)])
    actors.wait_for(askers)
    told = actors.stop()
    assert {tuple(found) for name in askers for found in told[name]["found"]} == {("ok", 3)}
    assert not any(told[name]["stopped"] for name in askers)

    # Something changed that cannot be taken in now: answers say so.
    for left in ("stop", "held", *(f"{name}.json" for name in askers)):
        (base / left).unlink()
    cards.save(base / "vault" / "new.md", cards.text("new", 1, rng))
    actors = Actors(base, [("holder", "h"), *(("asker", name) for name in askers)])
    actors.wait_for(askers)
    told = actors.stop()
    assert {tuple(found) for name in askers for found in told[name]["found"]} == {("stale", 3)}
    assert not any(told[name]["stopped"] for name in askers)
