"""Sessions: turns in readable files, in order, whatever is said in them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from cogvault import Vault, fenced
from cogvault.cards import MarkdownCardParser
from cogvault.config import Config
from cogvault.errors import CardError, PathError, QueryError, VaultError
from cogvault.lifecycle.sessions import Session, Sessions
from cogvault.lifecycle.timeline import MAX_FILE_BYTES
from cogvault.retrieval.hits import Hits, Trace
from cogvault.types import CardLayers, Status, Turn
from tests.lifecycle.session_worker import NOW, sessions, workspace


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def wrote() -> list[str]:
    return []


@pytest.fixture
def session(base: Path, wrote: list[str]) -> Session:
    return sessions(base, wrote)("abc")


def files(base: Path, name: str = "abc") -> dict[str, str]:
    folder = base / "vault" / "session" / name / "timeline"
    return {path.name: path.read_text("utf-8") for path in sorted(folder.iterdir())}


def test_a_timeline_can_be_read_by_a_person(base: Path, session: Session) -> None:
    session.append("Ana", "Shall we drop Redis?", datetime(2024, 3, 15, 10, 30, 0, 123456, UTC))
    session.append(speaker="Bob", text="Yes.\n\nPostgres will do.", at="2024-03-15T10:31:00Z", meta={"tool": "chat"})
    assert files(base) == {
        "2024-03-15_001.md": """---
title: "abc, 2024-03-15"
type: session
date: 2024-03-15
session: "abc"
---

**Ana** (2024-03-15T10:30:00.123456Z): Shall we drop Redis?

**Bob** (2024-03-15T10:31:00Z): Yes.

Postgres will do.
<!-- {"tool": "chat"} -->
"""
    }


def test_turns_come_back_as_append_gave_them(session: Session) -> None:
    said = [
        session.append("Ana", "# Heading\n\n```\nopen", NOW),
        session.append(
            " Bob\tB. ", "  **Ana**: not she\r\n", "2024-03-15T10:30:00.000001+02:00", {"n": [1, {"a": None}]}
        ),
        session.append("Ana", "", None),
    ]
    assert session.turns() == said
    assert [turn.speaker for turn in said] == ["Ana", "Bob B.", "Ana"]
    assert said[2].at == NOW


def test_order_below_the_second_is_kept_and_so_is_the_zone(session: Session) -> None:
    zone = timezone(timedelta(hours=2))
    times = [NOW.astimezone(zone) + timedelta(microseconds=step) for step in (0, 1, 2, 2, 3)]
    for number, at in enumerate(times):
        session.append("Ana", str(number), at)
    assert [turn.text for turn in session.turns()] == list("01234")
    assert [turn.at for turn in session.turns()] == times
    assert all(turn.at is not None and turn.at.utcoffset() == timedelta(hours=2) for turn in session.turns())


def test_each_day_has_its_files_and_days_come_in_order(base: Path, session: Session) -> None:
    session.append("Ana", "today", NOW)
    session.append("Ana", "yesterday", NOW - timedelta(days=1))
    session.append("Ana", "today again", NOW)
    assert list(files(base)) == ["2024-03-14_001.md", "2024-03-15_001.md"]
    assert [turn.text for turn in session.turns()] == ["yesterday", "today", "today again"]
    assert [turn.text for turn in session.turns(last=2)] == ["today", "today again"]
    assert session.turns(last=0) == []


def test_files_roll_by_size_and_each_is_one_card_with_its_own_title(base: Path, session: Session) -> None:
    said = [Turn("Ana", f"{number} " + "words " * 50, NOW) for number in range(500)]
    session.append_many(said[:490])
    for turn in said[490:]:
        session.append(turn.speaker, turn.text, turn.at)
    assert session.turns() == said
    found = files(base)
    assert list(found) == [f"2024-03-15_{number:03}.md" for number in range(1, len(found) + 1)]
    assert len(found) == 1 + sum(map(len, found.values())) // (MAX_FILE_BYTES + 200)
    assert all(len(text.encode()) <= MAX_FILE_BYTES + 200 for text in found.values())
    cards = [MarkdownCardParser().parse(text.encode(), id=name, path=name) for name, text in found.items()]
    assert [card.title for card in cards[:2]] == ["abc, 2024-03-15", "abc, 2024-03-15 (2)"]
    assert not any(card.problems for card in cards)


def test_numbers_above_999_sort_as_numbers(base: Path, session: Session) -> None:
    folder = base / "vault" / "session" / "abc" / "timeline"
    folder.mkdir(parents=True)
    (folder / "2024-03-15_999.md").write_text("**Ana**: first\n" + "x" * MAX_FILE_BYTES)
    session.append("Ana", "second", NOW)
    session.append("Ana", "third", NOW)
    assert [turn.text[:6] for turn in session.turns()] == ["first\n", "second", "third"]
    assert "2024-03-15_1000.md" in files(base)


def test_the_index_is_told_which_files_were_written(session: Session, wrote: list[str]) -> None:
    session.append_many([Turn("Ana", "a", NOW), Turn("Ana", "b", NOW + timedelta(days=1))])
    assert wrote == ["session/abc/timeline/2024-03-15_001.md", "session/abc/timeline/2024-03-16_001.md"]


def test_appending_reads_no_file_of_the_session_however_long_it_is(
    base: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what the last append wrote is looked at, and nothing is listed."""
    said = [Turn("Ana", f"{number}", NOW) for number in range(10_000)]
    session.append_many(said)
    monkeypatch.setattr("cogvault.lifecycle.timeline.is_continued", _forbidden)
    monkeypatch.setattr("cogvault.lifecycle.timeline.Timeline.files", _forbidden)
    again = sessions(base)("abc")
    newest = max(files(base))
    before = len(files(base)[newest])
    turn = again.append("Ana", "one more", NOW)
    assert len(files(base)[newest]) - before == len("\n**Ana** (2024-03-15T10:30:00Z): one more\n")
    monkeypatch.undo()
    assert again.turns() == [*said, turn]


def _forbidden(*_: object) -> object:
    raise AssertionError("an append looked at the whole session")


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.rstrip(b"\n"),
        lambda data: data + b"\nA remark by a person.",
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data[: len(data) // 2],
        lambda data: b"",
    ],
    ids=["no newline at the end", "text added", "CRLF", "BOM", "cut by a person", "emptied"],
)
def test_a_file_that_a_person_edited_is_gone_on_with(
    base: Path, session: Session, edit: Callable[[bytes], bytes]
) -> None:
    session.append("Ana", "before", NOW)
    session.append("Ana", "second", NOW)
    [path] = (base / "vault" / "session" / "abc" / "timeline").iterdir()
    edited = edit(path.read_bytes())
    path.write_bytes(edited)
    session = sessions(base)("abc")
    session.append("Bob", "after", NOW)
    assert path.read_bytes().startswith(edited)
    assert session.turns()[-1] == Turn("Bob", "after", NOW)
    assert len(files(base)) == 1


@pytest.mark.parametrize("tail", [b"\n```\nopen fence", b"\n\xff\xfe", b"\n\0\0"])
def test_where_a_turn_would_be_lost_in_what_a_person_wrote_a_new_file_begins(
    base: Path, session: Session, tail: bytes
) -> None:
    session.append("Ana", "before", NOW)
    [path] = (base / "vault" / "session" / "abc" / "timeline").iterdir()
    edited = path.read_bytes() + tail
    path.write_bytes(edited)
    session.append("Bob", "after", NOW)
    assert path.read_bytes() == edited
    assert session.turns()[-1] == Turn("Bob", "after", NOW)


def test_threads_share_flushes_and_none_of_their_turns_is_lost(
    session: Session, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.append("Ana", "first", NOW)
    flushes: list[int] = []
    plain = os.fsync
    gate = threading.Barrier(16)

    def slow(handle: int) -> None:
        flushes.append(handle)
        plain(handle)

    def talk(number: int) -> None:
        own = again("abc") if number % 2 else session
        gate.wait()
        for turn in range(10):
            own.append(f"speaker {number}", f"{turn}", NOW)

    again = sessions(base)  # another vault object on the same folder
    monkeypatch.setattr(os, "fsync", slow)
    threads = [threading.Thread(target=talk, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found: dict[str, list[str]] = {}
    for turn in session.turns()[1:]:
        found.setdefault(turn.speaker, []).append(turn.text)
    assert found == {f"speaker {number}": [str(turn) for turn in range(10)] for number in range(16)}
    assert len(flushes) < 160


def test_a_batch_is_checked_before_anything_is_written(base: Path, session: Session) -> None:
    with pytest.raises(CardError, match="speaker"):
        session.append_many([Turn("Ana", "good", NOW), Turn("*", "bad", NOW)])
    with pytest.raises(CardError, match="no time"):
        session.append("Ana", "x", "yesterday")
    with pytest.raises(CardError, match="too long to be indexed"):
        session.append("Ana", "x" * (5 << 20), NOW)
    with pytest.raises(CardError, match="JSON"):
        session.append("Ana", "x", NOW, {"a": float("inf")})
    assert session.append_many([]) == ()
    assert not (base / "vault" / "session").exists()


def test_a_disk_that_fails_leaves_the_file_as_it_was_and_every_thread_hears_of_it(
    base: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.append("Ana", "kept", NOW)
    before = files(base)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CardError, match="No space left"):
            session.append("Ana", "lost", NOW)
    assert files(base) == before
    session.append("Ana", "again", NOW)
    assert [turn.text for turn in session.turns()] == ["kept", "again"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../x", "/x", ".hidden", "con", "a\0b", "x" * 300, "a\\b", "%2e%2e"]
)
def test_names_go_through_the_one_resolver(base: Path, name: str) -> None:
    with pytest.raises(PathError, match="names no card of the vault"):
        sessions(base)(name)


def test_a_session_never_leaves_the_vault_by_a_link(base: Path) -> None:
    outside = base / "outside"
    outside.mkdir()
    of = sessions(base)
    (base / "vault" / "session").mkdir()
    (base / "vault" / "session" / "abc").symlink_to(outside)
    with pytest.raises(PathError):
        of("abc")
    assert of.names() == []
    assert list(outside.iterdir()) == []


def test_a_place_that_is_ignored_is_refused(base: Path) -> None:
    of = sessions(base)
    (base / "vault" / ".cogvaultignore").write_text("/session/secret/\n")
    with pytest.raises(CardError, match="would not be found"):
        of("secret").append("Ana", "x", NOW)
    of("open").append("Ana", "x", NOW)
    assert of.names() == ["open"]


def test_no_file_grows_beyond_what_is_indexed(base: Path) -> None:
    space = replace(workspace(base), config=Config(max_card_bytes=4096))
    session = Sessions(space, lambda folder: CardLayers(folder, ""))("abc")
    said = session.append_many(Turn("Ana", f"{number} " + "words " * 50, NOW) for number in range(30))
    assert tuple(session.turns()) == said
    assert max(len(text) for text in files(base).values()) <= 4096
    with pytest.raises(CardError, match="at most 2048 bytes"):
        session.append("Ana", "x" * 3000, NOW)


def test_nothing_that_was_said_is_kept_outside_of_the_vault(base: Path, session: Session) -> None:
    session.append("Ana", "a telling word", NOW)
    session.append("Ana", "another telling word", NOW)
    kept = [path.read_bytes() for path in (base / "state").rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert b"telling" not in kept[0]


def test_names_of_every_script_and_form_are_one_session(base: Path) -> None:
    of = sessions(base)
    of("Cafe\u0301 设备").append("Ana", "x", NOW)
    assert of("Café 设备").turns() == [Turn("Ana", "x", NOW)]
    assert of.names() == ["Café 设备"]
    assert of("Café 设备").uri == "cogvault://session/Caf%C3%A9%20%E8%AE%BE%E5%A4%87/"


def test_reading_makes_nothing(base: Path) -> None:
    of = sessions(base)
    assert of.names() == []
    assert of("abc").turns() == []
    assert list((base / "vault").iterdir()) == []


def test_closing_gives_the_layers_and_the_session_can_be_gone_on_with(base: Path) -> None:
    of = Sessions(workspace(base), lambda folder: CardLayers(f"about {folder}", ""))
    with of("abc") as session:
        session.append("Ana", "x", NOW)
    with pytest.raises(VaultError, match="closed"):
        session.append("Ana", "y", NOW)
    assert of("abc").close() == CardLayers("about session/abc", "")
    assert of("nobody spoke").close() == CardLayers("", "")
    of("abc").append("Ana", "y", NOW)
    assert [turn.text for turn in session.turns()] == ["x", "y"]


def test_fewer_turns_than_none_cannot_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with Vault(tmp_path / "vault", Config(model="none", index_dir=tmp_path / "i", state_dir=tmp_path / "s")) as vault:
        with pytest.raises(QueryError, match="last should be 0 or more"):
            vault.session("standup").turns(last=-1)
        assert vault.session("standup").turns(last=0) == []


def test_a_question_that_is_found_comes_with_its_answer(base: Path) -> None:
    (base / "vault").mkdir()
    config = Config(model="none", index_dir=base / "index", state_dir=base / "state")
    with Vault(base / "vault", config) as vault:
        session = vault.session("abc")
        question, answer = "Which port does the gateway listen on?", "It is 7443.\n\nSince the move to TLS."
        for speaker, text in (("user", question), ("assistant", answer), ("user", "And who owns it?"), ("user", "Hm")):
            session.append(speaker, text, NOW)
        [hit] = vault.search("which port does the gateway listen on")
        assert hit.text.endswith(question)
        assert "7443" in hit.reply
        assert "TLS" in hit.reply
        told = fenced(Hits((hit,), Status.OK, Trace("port")))
        assert "It is 7443." in told.text
        shorter = fenced(Hits((hit,), Status.OK, Trace("port")), told.tokens - 1).text
        assert question in shorter
        assert "7443" not in shorter
        packed = vault.search("which port does the gateway listen on", budget_tokens=60)
        assert f"user: {question}\nassistant: {answer}" in packed.text
        [unanswered] = vault.search("who owns it", k=1)
        assert unanswered.reply == ""
