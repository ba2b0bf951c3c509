"""Many clients at once: every call is answered, nothing is lost or doubled, memory stays flat."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

from tests.daemon.conftest import Ask, Start

CLIENTS, THREADS, ROUNDS = 8, 2, 20
MEGABYTE = 1 << 20
CLIENT = """
import sys, threading
from cogvault.client import connect
folder, client, threads, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
vault, failures = connect(folder), []
def work(thread):
    for number in range(rounds):
        try:
            hits = vault.search("Redis table")
            assert hits.status == "ok", hits.reason
            if not number % 10:
                assert vault.record(f"Fact {number} of thread {thread} of client {client}.").action == "created"
        except Exception as error:
            failures.append(repr(error))
running = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
for thread in running: thread.start()
for thread in running: thread.join()
vault.close()
print(failures)
"""


def test_eight_clients_of_two_threads(start: Start, folder: Path, environment: Mapping[str, str], ask: Ask) -> None:
    start()
    vault = ask(folder)
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(folder), str(client), str(THREADS), str(ROUNDS)],
            stdout=subprocess.PIPE,
            text=True,
            env=dict(environment),
        )
        for client in range(CLIENTS)
    ]
    assert [client.communicate(timeout=120)[0].strip() for client in clients] == ["[]"] * CLIENTS
    assert len(vault.list()) == 3 + CLIENTS * THREADS * ROUNDS // 10


def test_memory_threads_and_files_stay_flat(start: Start, folder: Path, ask: Ask) -> None:
    process = psutil.Process(start().pid)
    vault = ask(folder)

    def use() -> tuple[int, int, int]:
        for number in range(600):
            vault.search(f"Redis table {number}", explain=True)
        return process.memory_info().rss, process.num_fds(), process.num_threads()

    use()
    before, after = use(), use()
    assert after[0] - before[0] < 10 * MEGABYTE
    assert after[1:] <= (before[1] + 2, before[2] + 2)
