"""``cogvault ls``, ``move``, ``supersede``, ``history``, ``forget`` and ``restore``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, Spawn, document

QUEUE, OLD = "project_queue.md", "project_old-queue.md"


def files(vault: Path) -> dict[str, bytes]:
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def test_ls_lists_cards_and_says_what_does_not_hold(run: Run, vault: Path) -> None:
    result = run("ls", "--tenant", vault)
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == sorted(files(vault))
    assert "Jobs on Redis  superseded" in result.stdout
    assert "superseded" not in next(line for line in result.stdout.splitlines() if line.startswith(QUEUE))


def test_ls_json_and_prefixes(run: Run, vault: Path) -> None:
    (vault / "user" / "ana").mkdir(parents=True)
    (vault / "user" / "ana" / "50% plan #1.md").write_text("tea\n", encoding="utf-8")
    [card] = document(run("ls", "cogvault://user/ana", "--tenant", vault, "--json"))["cards"]
    assert card["id"] == "user/ana/50% plan #1.md"
    assert card["uri"] == "cogvault://user/ana/50%25%20plan%20%231.md"
    assert run("show", card["uri"], "--tenant", vault).stdout == "tea\n"
    assert document(run("ls", "user/an", "--tenant", vault, "--json"))["cards"] == []
    assert run("ls", "user/an", "--tenant", vault).stdout == ""
    found = document(run("search", "tea", "--path", "cortex://user/ana/", "--tenant", vault, "--json"))
    assert [hit["uri"] for hit in found["hits"]] == [card["uri"]]


def test_ls_tree(run: Run, vault: Path) -> None:
    (vault / "user" / "ana").mkdir(parents=True)
    (vault / "user" / "ana" / "tea.md").write_text("# Tea\n", encoding="utf-8")
    assert run("ls", "user", "--tree", "--tenant", vault).stdout == (
        "user  1 card\n└── user/  1 card\n    └── ana/  1 card\n        └── tea.md  Tea\n"
    )
    tree = document(run("ls", "--tree", "--tenant", vault, "--json"))["tree"]
    assert (tree["count"], len(tree["cards"]), tree["folders"][0]["folders"][0]["path"]) == (5, 4, "user/ana")


def test_move_brings_links_along_and_tells_what_it_could_not(run: Run, vault: Path) -> None:
    (vault / "legacy.md").write_bytes(b"caf\xe9 [[project_queue]]\n")
    result = run("move", QUEUE, "project_jobs.md", "--tenant", vault)
    assert result.exit_code == 0
    assert "project_jobs.md  moved" in result.stdout
    assert "legacy.md:1" in result.stdout
    assert "superseded_by: project_jobs\n" in (vault / OLD).read_text(encoding="utf-8")
    moved = document(run("move", "project_jobs.md", "cogvault://user/", "--tenant", vault, "--json"))
    assert (moved["status"], moved["id"], moved["action"]) == ("ok", "user/project_jobs.md", "moved")


def test_a_place_that_is_taken_is_refused(run: Run, vault: Path) -> None:
    before = files(vault)
    result = run("move", QUEUE, OLD, "--tenant", vault, "--json")
    assert result.exit_code == 3
    assert document(result)["error"]["kind"] == "ConflictError"
    assert files(vault) == before


def test_supersede_and_its_history_in_search(run: Run, vault: Path) -> None:
    (vault / "new.md").write_text(
        "---\ncreated: 2026-05-01\n---\nThe job queue runs on a mainframe.\n", encoding="utf-8"
    )
    result = run("supersede", QUEUE, "new.md", "--tenant", vault)
    assert (result.exit_code, result.stdout) == (0, f"{QUEUE}  superseded\n")
    assert document(run("supersede", QUEUE, "new.md", "--tenant", vault, "--json"))["action"] == "unchanged"
    hits = document(run("search", "job queue", "--tenant", vault, "--json"))["hits"]
    assert {hit["id"]: hit["valid"] for hit in hits} == {"new.md": "current", QUEUE: "superseded", OLD: "superseded"}
    then = document(run("search", "job queue", "--as-of", "2026-02-01", "--tenant", vault, "--json"))["hits"]
    assert [hit["id"] for hit in then] == [QUEUE]
    assert run("supersede", "new.md", QUEUE, "--tenant", vault).exit_code == 3


def test_history_tells_versions_oldest_first(run: Run, vault: Path) -> None:
    result = run("history", QUEUE, "--tenant", vault)
    assert result.exit_code == 0
    old, new = result.stdout.splitlines()
    assert old.split()[:3] == ["2025-10-08", "2026-01-20", OLD]
    assert old.endswith("Jobs on Redis  superseded")
    assert new.split()[2] == QUEUE
    assert new.endswith("current")
    found = document(run("history", f"cogvault://resources/{OLD}", "--tenant", vault, "--json"))["versions"]
    assert [(version["id"], version["valid"]) for version in found] == [(OLD, "superseded"), (QUEUE, "current")]
    assert found[0]["superseded_by"] == [QUEUE]


def test_forget_restore_and_purge(run: Run, vault: Path) -> None:
    before = files(vault)
    assert run("forget", QUEUE, "--tenant", vault).stdout == f"{QUEUE}  archived\n"
    hits = document(run("search", "Jobs in PostgreSQL", "--tenant", vault, "--json"))["hits"]
    assert QUEUE not in [hit["id"] for hit in hits]
    [kept] = document(run("ls", "--archived", "--tenant", vault, "--json"))["archived"]
    assert (kept["id"], kept["path"]) == (QUEUE, f".archive/{QUEUE}")
    assert run("ls", "--archived", "--tenant", vault).stdout.startswith(QUEUE)
    assert run("restore", QUEUE, "--tenant", vault).stdout == f"{QUEUE}  restored\n"
    assert files(vault) == before
    assert run("restore", QUEUE, "--tenant", vault).exit_code == 3
    assert run("forget", QUEUE, "--tenant", vault).exit_code == 0
    assert run("forget", QUEUE, "--archived", "--tenant", vault).exit_code == 2
    assert run("forget", QUEUE, "--purge", "--archived", "--tenant", vault).stdout == f"{QUEUE}  purged\n"
    assert run("forget", OLD, "--purge", "--tenant", vault).stdout == f"{OLD}  purged\n"
    assert sorted(files(vault)) == sorted(before.keys() - {QUEUE, OLD})
    assert run("ls", "--archived", QUEUE, "--tenant", vault).exit_code == 2


ESCAPES = (
    "../secret.md", "/etc/passwd", "a/../../secret.md", "%2e%2e/secret.md", "..%2fsecret.md", "..\\secret.md",
    "cogvault://user/../../secret.md", "cogvault://resources/%2e%2e/secret.md", "cogvault://user/..%2fsecret.md",
    ".archive/x.md", ".git/config", "memory-evil/../../secret.md", "../memory-evil/s.md",
)  # fmt: skip


@pytest.mark.parametrize("path", ESCAPES)
def test_no_argument_reaches_outside_and_each_refusal_is_the_same(path: str, run: Run, vault: Path) -> None:
    secret, sibling = vault.parent / "secret.md", vault.parent / "memory-evil" / "s.md"
    sibling.parent.mkdir()
    for file in (secret, sibling):
        file.write_text("wombat\n", encoding="utf-8")
    before = files(vault)
    naming = (
        ("show", path), ("move", path, "x.md"), ("supersede", path, QUEUE), ("supersede", QUEUE, path),
        ("history", path), ("forget", path), ("forget", path, "--purge"), ("forget", path, "--purge", "--archived"),
        ("restore", path), ("update", path, "--set", "a=b"),
    )  # fmt: skip
    placing = (("move", QUEUE, path), ("record", "wombat", "--to", path))
    messages = set()
    for call in (*naming, *placing):
        result = run(*call, "--tenant", vault, "--json")
        assert result.exit_code == 3, call
        error = document(result)["error"]
        assert error["kind"] == "PathError", call
        messages.add((error["message"], error["hint"], call in placing))
        assert "wombat" not in result.stdout
    assert len({message for message, *_ in messages}) == 1
    assert len(messages) == 2, "one hint for cards, one for places, whatever the path"
    for call in (("ls", path), ("ls", path, "--tree"), ("search", "wombat", "--path", path), ("layers", path)):
        result = run(*call, "--tenant", vault, "--json")
        assert "wombat\\n" not in result.stdout
        assert "secret.md" not in [card["id"] for card in document(result).get("cards", [])]
    assert files(vault) == before
    assert (secret.read_text(encoding="utf-8"), sibling.read_text(encoding="utf-8")) == ("wombat\n", "wombat\n")
    assert {entry.name for entry in vault.parent.iterdir()} >= {"secret.md", "memory-evil", "memory"}


def test_a_name_that_begins_with_a_dash_works_after_two(run: Run, vault: Path) -> None:
    (vault / "-draft.md").write_text("x\n", encoding="utf-8")
    assert run("move", "--tenant", vault, "--", "-draft.md", "draft.md").exit_code == 0
    assert "--" in run("forget", "-draft.md", "--tenant", vault).stderr


def test_a_process_of_its_own_finds_what_another_moved(spawn: Spawn, vault: Path) -> None:
    assert spawn("index", vault).returncode == 0
    assert spawn("move", QUEUE, "jobs.md", "--tenant", vault).returncode == 0
    assert document(spawn("search", "Jobs in PostgreSQL", "--tenant", vault, "--json"))["hits"][0]["id"] == "jobs.md"


def test_ls_due(run: Run, vault: Path) -> None:
    for name, day in (("a.md", "2020-01-01"), ("b.md", "2990-01-01")):
        (vault / name).write_text(f"---\nreview_by: {day}\n---\ntea\n", encoding="utf-8")
    assert run("ls", "--due", "--tenant", vault).stdout == "a.md  a  review due\n"
    assert "[review due]" in run("search", "tea", "--tenant", vault).stdout
    for other in ("--tree", "--archived"):
        assert run("ls", "--due", other, "--tenant", vault).exit_code == 2
