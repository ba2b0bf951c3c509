"""Abstracts and overviews through the public API: of cards and folders, extracted or written by a language model."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.errors import ConfigError, PathError
from cogvault.types import CardLayers, Status
from tests.layers.chat_server import chat_server, completion
from tests.recall.conftest import Open, write

LONG = "\n\n".join(
    f"Paragraph {number} tells of the queue and of what the team decided about worker {number}." for number in range(12)
)


@pytest.fixture(autouse=True)
def direct_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def notes(folder: Path) -> Path:
    write(folder, "queue.md", "# Queue\n\nThe jobs wait in PostgreSQL.")
    write(folder, "user/ana/goals.md", "# Goals\n\nAna wants to learn to sail.", description="What Ana wants")
    write(folder, "user/ana/events.md", "# Events\n\nAna moved to Lisbon.")
    return folder


def test_a_card_has_an_abstract_and_an_overview(notes: Path, open_vault: Open) -> None:
    layers = open_vault().layers("user/ana/goals.md")
    assert "What Ana wants" in layers.abstract
    assert "sail" in layers.overview


@pytest.mark.parametrize("name", ["user/ana", "user/ana/", "./user/ana"])
def test_a_folder_has_them_of_its_children(name: str, notes: Path, open_vault: Open) -> None:
    layers = open_vault().layers(name)
    assert "What Ana wants" in layers.abstract
    assert "## goals.md" in layers.overview
    assert "## events.md" in layers.overview


def test_the_vault_is_a_folder_too(notes: Path, open_vault: Open) -> None:
    vault = open_vault()
    assert vault.layers() == vault.layers("") == vault.layers(".")
    assert "## user/" in vault.layers().overview


def test_an_empty_vault_says_nothing(open_vault: Open) -> None:
    assert open_vault().layers() == CardLayers("", "")


@pytest.mark.parametrize("name", ["nothing.md", "user/bo", "../vault", "/", "user/ana/goals", "queue.md/"])
def test_an_unknown_name_is_refused(name: str, notes: Path, open_vault: Open) -> None:
    with pytest.raises(PathError):
        open_vault().layers(name)


def test_an_edit_by_hand_shows_in_its_folders(notes: Path, open_vault: Open) -> None:
    vault = open_vault()
    vault.sync()
    write(notes, "user/ana/goals.md", "# Goals\n\nAna wants to fly.", description="Ana wants to fly")
    assert "fly" in vault.layers("user").overview
    assert "sail" not in vault.layers("user").overview


def test_an_emptied_folder_is_unknown(notes: Path, open_vault: Open) -> None:
    vault = open_vault()
    vault.sync()
    for name in ("goals", "events"):
        (notes / f"user/ana/{name}.md").unlink()
    with pytest.raises(PathError):
        vault.layers("user/ana")
    assert "user" not in vault.layers().overview


def test_nothing_that_was_deleted_is_left_in_any_file(notes: Path, open_vault: Open, tmp_path: Path) -> None:
    write(notes, "user/ana/secret.md", "# Secret\n\nThe word is Rumpelstilzchen.")
    with chat_server((200, completion("Rumpelstilzchen is the word."))) as server:
        write(notes, "user/ana/long.md", f"# Long\n\nRumpelstilzchen.\n\n{LONG}")
        with open_vault(summarizer=f"openai:tiny@{server.url}") as vault:
            assert vault.sync().status is Status.OK
            kept = [path.name for path in (tmp_path / "indexes").rglob("*.sqlite") if b"Rumpel" in path.read_bytes()]
            assert {"folders.sqlite", "summaries.sqlite"} <= set(kept)
            for name in ("secret", "long"):
                (notes / f"user/ana/{name}.md").unlink()
            vault.sync()
            for path in (tmp_path / "indexes").rglob("*s.sqlite"):
                assert b"Rumpel" not in path.read_bytes(), path.name


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"no database")])
def test_lost_folder_layers_are_made_again(damage: object, notes: Path, open_vault: Open, tmp_path: Path) -> None:
    vault = open_vault()
    before = vault.layers("user")
    [path] = (tmp_path / "indexes").rglob("folders.sqlite")
    damage(path)  # type: ignore[operator]
    assert open_vault().layers("user") == before


def test_a_language_model_writes_layers_that_recall_packs(folder: Path, open_vault: Open) -> None:
    write(folder, "queue.md", f"# Queue\n\n{LONG}")
    with chat_server((200, completion("The team chose the queue."))) as server:
        vault = open_vault(summarizer=f"openai:tiny@{server.url}")
        report = vault.sync()
        assert (report.status, report.summarized) == (Status.OK, 1)
        assert vault.layers("queue.md").abstract == "The team chose the queue."
        assert vault.sync().summarized == 0
        assert len(server.requests) == 2
        packed = vault.search("queue", budget_tokens=60, layer="L0", min_score=0.0)
    assert "The team chose the queue." in packed.text


def test_a_search_never_waits_for_a_language_model(folder: Path, open_vault: Open) -> None:
    write(folder, "queue.md", f"# Queue\n\n{LONG}")
    with chat_server() as server:
        vault = open_vault(summarizer=f"openai:tiny@{server.url}")
        assert vault.search("queue")[0].id == "queue.md"
        assert server.requests == []
        [problem] = [problem for problem in vault.status().problems if "abstract" in problem.message]
        assert problem.code == "summarizer"


def test_a_model_that_fails_is_told_and_nothing_else_is_lost(folder: Path, open_vault: Open) -> None:
    write(folder, "queue.md", f"# Queue\n\n{LONG}")
    with chat_server((400, b"no")) as server:
        vault = open_vault(summarizer=f"openai:tiny@{server.url}")
        report = vault.sync()
        assert report.status is Status.DEGRADED
        assert {problem.code for problem in report.problems} == {"summarizer"}
        assert all("tiny" in problem.message for problem in report.problems)
        assert vault.search("queue").status is Status.OK
    assert "Paragraph" in vault.layers("queue.md").abstract


def test_changing_the_summarizer_changes_the_layers_only(folder: Path, open_vault: Open) -> None:
    write(folder, "queue.md", f"# Queue\n\n{LONG}")
    with open_vault() as vault:
        vault.sync()
        before = vault.layers("queue.md")
    with chat_server() as server, open_vault(summarizer=f"openai:tiny@{server.url}") as vault:
        report = vault.sync()
        assert (report.refreshed, report.changed, report.summarized) == (1, (), 1)
        assert vault.layers("queue.md").abstract == "A summary."
    with open_vault() as vault:
        assert vault.layers("queue.md") == before


@pytest.mark.parametrize("name", ["openai:tiny", "gpt", "openai:tiny@ftp://x", "openai:m@http://user:hunter2@host/v1"])
def test_a_summarizer_that_cannot_be_one_is_a_wrong_setting(name: str, open_vault: Open) -> None:
    with pytest.raises(ConfigError) as caught:
        open_vault(summarizer=name)
    assert caught.value.key == "summarizer"
    assert "hunter2" not in str(caught.value)


def test_a_vault_cannot_send_its_cards_to_an_address(folder: Path, open_vault: Open) -> None:
    (folder / ".cogvault.toml").write_text('summarizer = "openai:tiny@http://example.com/v1"\n')
    with pytest.raises(ConfigError, match="points outside the vault"):
        open_vault()
