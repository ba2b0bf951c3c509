"""Nothing that looks at a vault changes it: no byte, no time, no name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cogvault.embedders import HashingEmbedder
from cogvault.errors import CogvaultError, PathError
from cogvault_cli.main import cli
from tests.vault.conftest import Shelf, ids
from tests.vault.untouched import tree

FILES: dict[str, bytes] = {
    "plain.md": b"# Plain\n\nwombat one, see [[crlf]]\n",
    "crlf.md": b"---\r\ntitle: Carriage\r\ntags: [a]\r\n---\r\nwombat two\r\n",
    "bom.md": b"\xef\xbb\xbf---\ntitle: Marked\n---\nwombat three",
    "latin.md": b"wombat caf\xe9\n",
    "wide.md": "wombat four\n".encode("utf-16"),
    "broken.md": b"---\ntitle: [never\n---\nwombat five\n",
    "open.md": b"---\ntitle: never closed\n\nwombat six\n",
    "twice.md": b"---\ntitle: one\ntitle: two\n---\nwombat seven\n",
    "binary.md": b"\x89PNG\x00\x00",
    "empty.md": b"",
    "Cafe\u0301.md".encode().decode(): b"wombat eight\n",
    "sub/deep/er.md": b"wombat nine\n",
    ".hidden/secret.md": b"wombat\n",
    ".cogvaultignore": b"ignored/\n",
    ".cogvault.toml": b"half_life_days = 30\n",
    ".gitignore": b"*.tmp\n",
    "ignored/a.md": b"wombat\n",
    "image.png": b"\x89PNG",
    "draft.md~": b"wombat\n",
}


@pytest.fixture
def library(shelf: Shelf) -> Shelf:
    for path, content in FILES.items():
        shelf.write(path, content)
    (shelf.root / "link.md").symlink_to("plain.md")
    (shelf.root / "away.md").symlink_to("/etc/hostname")
    (shelf.root / "loop").symlink_to("..")
    for number, file in enumerate(sorted(shelf.root.rglob("*.md"))):
        if not file.is_symlink():
            os.utime(file, ns=(10**18 + number, 10**18 + number))
    return shelf


def test_no_call_of_the_library_changes_the_vault(library: Shelf) -> None:
    before = tree(library.root)
    vault = library.open(embedder=HashingEmbedder(32))
    vault.sync()
    vault.sync(verify=True)
    assert ids(vault.search("wombat", k=20, explain=True, budget_tokens=500))
    vault.search("nothing of the kind")
    vault.status()
    for card in vault.cards():
        vault.read(card.id)
        vault.layers(card.id)
    vault.layers("sub")
    for path in ("none.md", "../x.md", ".hidden/secret.md", "new/folder/note.md"):
        with pytest.raises(PathError):
            vault.read(path)
        with pytest.raises(PathError):
            vault.layers(path)
    stop = threading.Event()
    for _ in vault.changes(stop):
        stop.set()
    vault.close()
    assert tree(library.root) == before


def test_no_command_changes_the_vault(library: Shelf) -> None:
    before = tree(library.root)
    environ = {"COGVAULT_MODEL": "hashing", "COGVAULT_INDEX_DIR": str(library.indexes), "COGVAULT_RECURSIVE": "true"}
    root = str(library.root)
    for args in (
        ["status", "--tenant", root],
        ["config", "--tenant", root],
        ["search", "wombat", "--tenant", root],
        ["search", "wombat", "--tenant", root, "--no-sync", "--json", "--explain"],
        ["index", root, "--verify"],
        ["show", "plain.md", "--tenant", root],
        ["show", "none.md", "--tenant", root],
        ["layers", "--tenant", root],
    ):
        result = CliRunner().invoke(cli, args, env=environ)
        assert result.exit_code in (0, 3), (args, result.output)
        assert tree(library.root) == before, args


def test_a_vault_that_is_edited_keeps_its_edits_only(library: Shelf) -> None:
    vault = library.vault
    vault.sync()
    library.write("plain.md", "# Plain\n\nquokka\n")
    (library.root / "crlf.md").rename(library.root / "moved.md")
    (library.root / "empty.md").unlink()
    before = tree(library.root)
    assert ids(vault.search("quokka")) == ["plain.md"]
    vault.sync()
    assert tree(library.root) == before


@pytest.mark.parametrize("index_dir", ["", "inside", "a/b"])
def test_an_index_in_the_vault_is_refused_before_anything_is_made(library: Shelf, index_dir: str) -> None:
    before = tree(library.root)
    with pytest.raises(CogvaultError, match="inside the vault"):
        library.open(index_dir=library.root / index_dir)
    assert tree(library.root) == before


BOUND = """
import ctypes, os, sys
if os.geteuid() == 0:  # root may do anything only as long as it has these capabilities
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
ASKED = """
import json, sys
from cogvault import Config, Vault

def told(ask):
    try:
        answer = ask()
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error), "hint": getattr(error, "hint", None)}
    found = [hit.id for hit in answer] if hasattr(answer, "trace") else []
    return {"ids": found, "status": str(answer.status), "reason": answer.reason, "hint": answer.hint}

def told_problems():
    try:
        return [f"{problem.path} {problem.code}" for problem in vault.status().problems]
    except Exception as error:
        return str(error)

def told_text():
    try:
        return vault.read("plain.md").text
    except Exception as error:
        return f"{type(error).__name__}: {error}"

config = Config(model="none", recursive=True, index_dir=sys.argv[2], refresh_seconds=0, threads=1)
vault = Vault(sys.argv[1], config)
print(json.dumps({
    "search": told(lambda: vault.search("wombat two")),
    "sync": told(vault.sync),
    "status": told(vault.status),
    "problems": told_problems(),
    "read": told_text(),
}))
"""

bound_by_rights = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and sys.platform != "linux"), reason="nothing binds this user"
)


def asked(library: Shelf, indexes: Path) -> dict[str, Any]:
    """What a process is told that the rights of files bind, also where the tests run as root."""
    program = [sys.executable, "-c", BOUND, "-c", ASKED, str(library.root), str(indexes)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def content(root: Path) -> dict[str, bytes]:
    return {path: info[-1] for path, info in tree(root).items()}


@contextmanager
def rights(modes: dict[Path, int]) -> Iterator[None]:
    """Rights that files have for a while."""
    before = {path: path.stat().st_mode for path in modes}
    for path, mode in modes.items():
        path.chmod(mode)
    try:
        yield
    finally:
        for path in reversed(before):
            path.chmod(before[path])


def closed_for_writing(root: Path) -> dict[Path, int]:
    """Deepest first, so that each can still be reached."""
    paths = [path for path in root.rglob("*") if not path.is_symlink()]
    return {path: 0o555 if path.is_dir() else 0o444 for path in [*reversed(paths), root]}


@bound_by_rights
def test_a_vault_that_may_not_be_written_is_indexed_elsewhere(library: Shelf) -> None:
    with rights(closed_for_writing(library.root)):
        before = tree(library.root)
        told = asked(library, library.indexes)
        assert tree(library.root) == before
    assert (told["search"]["ids"][0], told["search"]["status"]) == ("crlf.md", "ok")
    assert told["status"]["status"] == "ok"


@bound_by_rights
def test_an_index_that_may_not_be_written_stays_as_it_is_and_answers_say_so(library: Shelf) -> None:
    library.vault.sync()
    library.vault.close()
    library.write("new.md", "wombat new\n")
    with rights(closed_for_writing(library.indexes)):
        before = content(library.indexes)
        told = asked(library, library.indexes)
        assert content(library.indexes) == before
    assert told["search"]["ids"][0] == "crlf.md"
    assert told["status"]["status"] == "degraded"
    assert str(library.indexes) in told["status"]["reason"]
    assert told["status"]["hint"]
    assert "wombat one" in told["read"]


@bound_by_rights
def test_where_no_index_can_be_made_answers_come_all_the_same_and_say_so(library: Shelf, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    with rights({closed: 0o555}):
        told = asked(library, closed / "indexes")
    assert told["search"]["ids"][0] == "crlf.md"
    assert told["status"]["status"] == "degraded"
    assert str(closed) in told["status"]["reason"]
    assert told["status"]["hint"]


@bound_by_rights
def test_what_may_not_be_read_keeps_its_old_row_and_is_named(library: Shelf) -> None:
    assert asked(library, library.indexes)["search"]["status"] == "ok"
    note = library.write("crlf.md", "wombat two again\n")
    with rights({note: 0, library.root / "sub": 0}):
        told = asked(library, library.indexes)
    assert told["search"]["ids"][0] == "crlf.md"
    assert told["sync"]["status"] == "degraded"
    assert "could not be indexed" in told["sync"]["reason"]
    assert told["status"]["status"] == "degraded"
    assert {"crlf.md unreadable", "sub unreadable"} <= {line.replace("/ ", " ") for line in told["problems"]}
