"""Recording: from the call to its being found by keyword, many threads at once; turns of a session."""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.fleets import measure
from benchmarks.rows import Row, note
from benchmarks.sync import write_cards
from benchmarks.words import sentence, sentences
from cogvault import Config, Session, Turn, Vault

PARTS = ("record", "threads", "session", "fleet")
_WARM_UP = 5
_FOUND_TURNS = 30


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cards", type=int, default=10_000, help="cards in the vault before")
    parser.add_argument("--records", type=int, default=100, help="records that are each looked for at once")
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--writes", type=int, default=640, help="records of all threads together")
    parser.add_argument("--vaults", type=int, default=100, help="vaults of a fleet that are open at once")
    parser.add_argument("--model", default="bundled", help="model of the fleet")
    parser.add_argument("--turns", type=int, default=1000, help="turns that are appended one by one")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"any of {', '.join(PARTS)}")


def run(args: argparse.Namespace) -> list[Row]:
    parts = args.parts.split(",")
    with tempfile.TemporaryDirectory() as temp:
        base = Path(temp)
        fleet = measure(base / "fleet", args.vaults, args.model) if "fleet" in parts else []
        return [*_measured(base, args, parts), *fleet]


def _measured(base: Path, args: argparse.Namespace, parts: Sequence[str]) -> list[Row]:
    """Rows of one vault."""
    rows: list[Row] = []
    if not {"record", "threads", "session"}.intersection(parts):
        return rows
    write_cards(base / "vault", args.cards)
    config = Config(model="none", index_dir=base / "i", cache_dir=base / "c", state_dir=base / "s", log="off")
    with Vault(base / "vault", config) as vault:
        vault.sync()
        note(f"{args.cards} cards indexed")
        if "record" in parts:
            rows += _found_at_once(vault, args.records)
        if "threads" in parts:
            rows += _many_writers(vault, args.threads, args.writes)
        if "session" in parts:
            rows += _session(vault, args.turns, args.threads)
    return rows


def _found_at_once(vault: Vault, count: int) -> list[Row]:
    rng = random.Random(7)
    both, writes = [], []
    for number in range(count + _WARM_UP):
        word = f"zebrafinch{number:04}"
        text = " ".join(sentences(rng, 3)) + f" {word}."
        began = time.perf_counter()
        written = vault.record(text, title=sentence(rng, 4))
        saved = time.perf_counter()
        hits = vault.search(word)
        ended = time.perf_counter()
        if written.id not in [hit.id for hit in hits]:
            raise SystemExit(f"{written.id} was recorded and not found")
        if number >= _WARM_UP:
            writes.append(1000 * (saved - began))
            both.append(1000 * (ended - began))
    return [
        Row("default", "record", "p50_ms", float(np.median(both)), len(both)),
        Row("default", "record", "p95_ms", float(np.quantile(both, 0.95)), len(both)),
        Row("default", "record", "write_p50_ms", float(np.median(writes)), len(writes)),
    ]


def _many_writers(vault: Vault, threads: int, writes: int) -> list[Row]:
    rng = random.Random(8)
    texts = [[" ".join(sentences(rng, 3)) for _ in range(writes // threads)] for _ in range(threads)]
    ids: list[str] = []

    def write(own: list[str]) -> None:
        for text in own:
            ids.append(vault.record(text).id)

    workers = [threading.Thread(target=write, args=(own,)) for own in texts]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - began
    held = {card.id for card in vault.cards()}
    if lost := sum(map(len, texts)) - len(held.intersection(ids)):
        raise SystemExit(f"{lost} records were lost")
    return [Row("default", "record", "writes_per_s", len(ids) / seconds, len(ids))]


def _session(vault: Vault, count: int, threads: int) -> list[Row]:
    """Every turn is flushed to the disk before the next one, except in batches and among threads."""
    rng = random.Random(9)
    texts = [sentence(rng, 12) for _ in range(count)]
    session = vault.session("bench")
    session.append("Ana", "Good morning.")
    short = _append(session, texts)
    session.append_many([Turn("Bob", text) for text in texts * (10_000 // count)])
    long = _append(session, texts)
    began = time.perf_counter()
    session.append_many([Turn("Bob", text) for text in texts])
    batch = time.perf_counter() - began
    workers = [
        threading.Thread(target=_append, args=(vault.session("bench"), texts[number::threads]))
        for number in range(threads)
    ]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    together = time.perf_counter() - began
    wanted = 1 + 4 * count + count * (10_000 // count)
    if (found := len(session.turns())) != wanted:
        raise SystemExit(f"{wanted - found} turns were lost")
    return [
        Row("default", "session", "turns_per_s", count / sum(short), count),
        Row("default", "session", "turns_per_s_after_10000", count / sum(long), count),
        Row("default", "session", "batch_turns_per_s", count / batch, count),
        Row("default", "session", "threads_turns_per_s", count / together, count),
        Row("default", "session", "found_p50_ms", _turn_found(vault, session), _FOUND_TURNS),
    ]


def _append(session: Session, texts: list[str]) -> list[float]:
    """Seconds of each append."""
    seconds = []
    for text in texts:
        began = time.perf_counter()
        session.append("Ana", text)
        seconds.append(time.perf_counter() - began)
    return seconds


def _turn_found(vault: Vault, session: Session) -> float:
    """Median milliseconds from saying something to finding it."""
    spent = []
    for number in range(_FOUND_TURNS):
        word = f"kingfisher{number:04}"
        began = time.perf_counter()
        session.append("Ana", f"Did anybody see the {word} today?")
        hits = vault.search(word)
        spent.append(1000 * (time.perf_counter() - began))
        if not hits or word not in hits[0].text:
            raise SystemExit(f"{word} was said and not found")
    return float(np.median(spent))
