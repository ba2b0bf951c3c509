"""Many threads and processes write into one vault: nothing is lost, nothing is written twice, all is found."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from cogvault import Config, Vault

_PROGRAM = """
import sys
from pathlib import Path
from cogvault import Config, Vault
base, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Vault(base / "vault", Config(model="none", index_dir=base / "i", state_dir=base / "s")) as vault:
    for number in range(count):
        print(vault.record(f"Fact {number} of {name} is about zebra{name}{number}.", title="Fact").id, flush=True)
        vault.update("shared.md", append=f"- {name} {number}")
"""


def _vault(base: Path) -> Vault:
    (base / "vault").mkdir(exist_ok=True)
    return Vault(base / "vault", Config(model="none", index_dir=base / "i", state_dir=base / "s"))


def test_records_of_32_threads_are_all_kept_and_found(tmp_path: Path) -> None:
    ids: list[str] = []
    failed: list[BaseException] = []
    with _vault(tmp_path) as vault:

        def write(worker: int) -> None:
            try:
                for number in range(4):
                    # Everybody also says one same thing.
                    ids.append(vault.record(f"Zebra{worker}x{number} was seen by worker {worker}.", "Seen").id)
                    vault.record("The zoo opens at nine.", f"Zoo {worker}")
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        files = {path.name for path in (tmp_path / "vault").iterdir()}
        assert len(set(ids)) == 128
        assert files == {*ids, *(name for name in files if "zoo" in name)}
        assert len(files) == 129, "the same text is stored once, and no temporary file is left"
        assert {card.id for card in vault.cards()} == files
        for worker in range(0, 32, 8):
            assert vault.search(f"zebra{worker}x3")[0].id in ids


def test_writers_of_several_processes_lose_nothing(tmp_path: Path) -> None:
    with _vault(tmp_path) as vault:
        (tmp_path / "vault" / "shared.md").write_text("# Log\n")
        vault.sync()
        command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
        writers = [
            subprocess.Popen([*command, name, "6"], stdout=subprocess.PIPE, encoding="utf-8")
            for name in ("a", "b", "c")
        ]
        ids = [line for writer in writers for line in writer.communicate(timeout=120)[0].split()]
        assert [writer.returncode for writer in writers] == [0, 0, 0]
        assert len(set(ids)) == 18
        shared = (tmp_path / "vault" / "shared.md").read_text().splitlines()
        assert sorted(line for line in shared if line.startswith("- ")) == sorted(
            f"- {name} {number}" for name in "abc" for number in range(6)
        )
        vault.sync()
        assert {card.id for card in vault.cards()} == {*ids, "shared.md"}
        assert vault.search("zebrab5")[0].id in ids


def test_a_killed_writer_leaves_whole_cards_and_no_lock(tmp_path: Path) -> None:
    with _vault(tmp_path) as vault:
        (tmp_path / "vault" / "shared.md").write_text("# Log\n")
        writer = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(tmp_path), "k", "100000"], stdout=subprocess.PIPE, encoding="utf-8"
        )
        assert writer.stdout is not None
        told = [writer.stdout.readline().strip() for _ in range(5)]
        writer.kill()
        told += writer.communicate(timeout=60)[0].split("\n")
        done = vault.record("Written after the kill.")
        report = vault.sync()
        assert not report.failed
        ids = {card.id for card in vault.cards()}
        whole = {id for id in told if id.endswith(".md")}
        assert whole | {done.id} <= ids, "what was told is there"
        for id in ids - {"shared.md"}:
            assert vault.read(id).text.endswith(".\n")
            assert not next(card for card in vault.cards() if card.id == id).problems
