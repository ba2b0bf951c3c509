"""Processes that write to one vault and search it until they are told to stop.

``python -m tests.processes.actor BASE`` reads one line of JSON, ``[["writer", "w0"], …]``, and forks a process for each
role. Each ends when the file ``BASE/stop`` is there, and leaves ``BASE/<name>.json``; an error is its ``error``.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from cogvault import Config, Vault
from cogvault.indexes import LocalIndex
from cogvault.indexes.local.store import Store
from cogvault.indexing.locking import hold
from cogvault.types import Status
from tests.crash.worker import LoggingEmbedder
from tests.processes import cards

_CARDS = 6
_PAUSE_SECONDS = 0.01
_THINK_SECONDS = 0.05
_ASKED = 20


def opened(base: Path, **settings: object) -> Vault:
    """The vault ``BASE/vault`` with the index ``BASE/index``; what is embedded is logged in ``BASE/log``."""
    usual: dict[str, object] = {"index_dir": base / "index", "recursive": True, "chunk_tokens": 50, "threads": 1}
    embedder = LoggingEmbedder(base / "log", "one")
    return Vault(base / "vault", Config(**{**usual, **settings}), embedder=embedder)  # type: ignore[arg-type]


def write(base: Path, name: str, until: Callable[[], bool]) -> dict[str, object]:
    """Make, edit, move and delete own cards, and find each edit as soon as an own sync has ended."""
    rng = random.Random(name)
    files: dict[str, tuple[Path, int]] = {}
    version = checks = 0
    with opened(base, refresh_seconds=0.05) as vault:
        while not until():
            card = f"{name}n{rng.randrange(_CARDS)}"
            file, _ = files.get(card, (vault.path / f"{card}.md", 0))
            action = rng.choice(["save", "save", "save", "overwrite", "move", "delete"])
            if action in ("save", "overwrite"):
                version += 1
                {"save": cards.save, "overwrite": cards.overwrite}[action](file, cards.text(card, version, rng))
                files[card] = file, version
            elif action == "move" and card in files:
                target = vault.path / rng.choice(["a", "b/c", "."]) / f"{card}-{rng.randrange(99)}.md"
                target.parent.mkdir(parents=True, exist_ok=True)
                file.rename(target)
                files[card] = target, files[card][1]
            elif card in files:
                file.unlink()
                del files[card]
            if rng.random() < 0.3:
                checks += _find_own(vault, files, name)
            time.sleep(_PAUSE_SECONDS)
    return {"cards": _by_id(vault, files), "checks": checks}


def _by_id(vault: Vault, files: dict[str, tuple[Path, int]]) -> dict[str, str]:
    return {
        file.relative_to(vault.path).as_posix(): cards.marker(card, version) for card, (file, version) in files.items()
    }


def _find_own(vault: Vault, files: dict[str, tuple[Path, int]], name: str) -> int:
    """What a process wrote before its own sync is in the index after it, and nothing else of its own is."""
    report = vault.sync()
    if report.status is Status.STALE:
        raise AssertionError(f"a sync gave up: {report.reason}")
    own = {card.id: card.title for card in vault.cards() if card.id.rpartition("/")[2].startswith(f"{name}n")}
    wanted = {id: f"title {marker}" for id, marker in _by_id(vault, files).items()}
    if own != wanted:
        raise AssertionError(f"in the index {own}, on disk {wanted}")
    return 1


def search(base: Path, name: str, until: Callable[[], bool]) -> dict[str, object]:
    """Search, and look at whole cards; what is told must be of one version of a card, and all of it."""
    rng = random.Random(name)
    counts: dict[str, int] = {status.value: 0 for status in Status}
    whole = 0
    with opened(base, refresh_seconds=0.2) as vault:
        index = LocalIndex(Path(vault.status().index))
        try:
            while not until():
                hits = vault.search(rng.choice(["alpha", "beta gamma", "note 设备", "w1n2", "shared words"]), k=8)
                counts[hits.status.value] += 1
                for hit in hits:
                    if not cards.is_of_one_version(hit.title, hit.text):
                        raise AssertionError(f"{hit.id}: {hit.title} has {hit.text!r}")
                snapshot = index.snapshot()
                for card in rng.sample(list(snapshot.cards), min(3, len(snapshot.cards))):
                    texts = [stored.chunk.text for stored in snapshot.of_card(card.id)[1:]]
                    if not cards.is_whole(card.title, texts):
                        raise AssertionError(f"{card.id}: {card.title} has {texts!r}")
                    whole += 1
                del snapshot
                time.sleep(_THINK_SECONDS)
        finally:
            index.close()
    return {"counts": counts, "whole": whole}


def sync_once(base: Path, name: str, until: Callable[[], bool]) -> dict[str, object]:
    """One sync, begun as soon as told."""
    with opened(base) as vault:
        while not until():
            time.sleep(0.001)
        report = vault.sync()
    return {"status": report.status.value, "pending": report.pending_vectors, "reason": report.reason}


def hold_all(base: Path, name: str, until: Callable[[], bool]) -> dict[str, object]:
    """Be in the middle of every kind of writing at once; ``BASE/held`` tells that it has begun."""
    with opened(base) as vault:
        folder = Path(vault.status().index)
    store = Store(folder, 1)
    with hold(folder / "sync.lock", 9), hold(folder / "vectors.lock", 9), store.writing() as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE cards SET id = id || '-half'")
        (base / "held").touch()
        while not until():
            time.sleep(_PAUSE_SECONDS)
        connection.execute("ROLLBACK")
    store.close()
    return {}


def ask(base: Path, name: str, until: Callable[[], bool]) -> dict[str, object]:
    """Some searches, each of which looks for changed files first, begun once another process holds everything."""
    found: list[tuple[str, int]] = []
    with opened(base, refresh_seconds=0) as vault:
        while not (base / "held").exists():
            time.sleep(_PAUSE_SECONDS)
        for _ in range(_ASKED):
            hits = vault.search("alpha beta", k=3)
            found.append((hits.status.value, len(hits)))
    return {"found": found, "stopped": until()}


ROLES = {"writer": write, "searcher": search, "sync": sync_once, "holder": hold_all, "asker": ask}


def _child(base: Path, role: str, name: str) -> None:
    stop = base / "stop"
    try:
        result = ROLES[role](base, name, stop.exists)
    except Exception:
        result = {"error": traceback.format_exc()}
    beside = base / f"{name}.tmp"
    beside.write_text(json.dumps(result), encoding="utf-8")
    beside.replace(base / f"{name}.json")


def main(base: Path) -> None:
    children = []
    for role, name in json.loads(sys.stdin.readline()):
        child = os.fork()
        if child == 0:
            _child(base, role, name)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
