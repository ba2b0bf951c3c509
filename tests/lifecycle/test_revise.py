"""Updates change what they name, never lose another's bytes, and refuse rather than guess."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from cogvault.cards.writer import hash_of, write_atomic
from cogvault.errors import CardError, ConflictError, PathError
from cogvault.lifecycle.drafting import MAX_WRITE_BYTES
from cogvault.lifecycle.revise import Change, Reviser
from cogvault.types import Action, Draft
from tests.lifecycle.test_record import Shelf

CARD = b"---\r\n# mine\r\ntitle: 'Plan'\r\ntags: [a]\r\n---\r\n\r\n# Plan\r\n\r\n## Open items\r\n\r\n- one\r\n"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def reviser(shelf: Shelf) -> Reviser:
    (shelf.root / "plan.md").write_bytes(CARD)
    return Reviser(shelf.workspace(), shelf.index.snapshot)


def _bytes(shelf: Shelf) -> bytes:
    return (shelf.root / "plan.md").read_bytes()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change(set={"tags": ["a", "b"]}), CARD.replace(b"[a]", b"[a, b]")),
        (Change(set={"tags": "a, #b"}), CARD.replace(b"[a]", b"[a, b]")),
        (Change(unset=("tags",)), CARD.replace(b"tags: [a]\r\n", b"")),
        (Change(append="- two"), CARD + b"- two\r\n"),
        (Change("- zero", "Open items"), CARD.replace(b"- one", b"- zero")),
        (Change(None, "Open items", "- two"), CARD + b"- two\r\n"),
        (Change("- zero", "Open items", "- two"), CARD.replace(b"- one\r\n", b"- zero\r\n- two\r\n")),
        (Change("Done."), CARD[: CARD.index(b"# Plan")] + b"Done.\r\n"),
    ],
)
def test_only_what_is_named_changes(shelf: Shelf, reviser: Reviser, change: Change, expected: bytes) -> None:
    done = reviser.update("plan.md", change, hash_of(CARD))
    assert _bytes(shelf) == expected
    assert (done.action, done.id, done.hash) == (Action.UPDATED, "plan.md", hash_of(expected))
    assert done.uri == "cogvault://resources/plan.md"
    assert shelf.told == ["plan.md"]


@pytest.mark.parametrize("change", [Change(set={"title": "Plan", "tags": ["a"]}), Change("- one", "Open items")])
def test_what_is_there_already_is_not_written_again(shelf: Shelf, reviser: Reviser, change: Change) -> None:
    before = (shelf.root / "plan.md").stat()
    assert reviser.update("plan.md", change).action is Action.UNCHANGED
    after = (shelf.root / "plan.md").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert shelf.told == []


@pytest.mark.parametrize(
    "change",
    [
        Change(),
        Change(section="Open items"),
        Change("x", "Missing"),
        Change("x", "Open items #tag"),
        Change(None, "Missing", "x"),
        Change("## Open\n\nx", "Open items"),
        Change(set={"tags": object()}),
        Change(set={"valid_until": "soon"}),
        Change(set={"importance": 7}),
        Change(set={"tags": ["b"]}, unset=("tags",)),
        Change("x" * (MAX_WRITE_BYTES + 1)),
        Change("a\x00b"),
        Change(append="\ud800"),
        Change("ok", set={"": 1}),
    ],
)
def test_what_cannot_be_done_right_is_refused_with_every_byte_as_it_was(
    shelf: Shelf, reviser: Reviser, change: Change
) -> None:
    with pytest.raises(CardError) as caught:
        reviser.update("plan.md", change)
    assert not isinstance(caught.value, ConflictError)
    assert _bytes(shelf) == CARD
    assert [path.name for path in shelf.root.iterdir()] == ["plan.md"]
    assert shelf.told == []


@pytest.mark.parametrize(
    "data", [b"---\ntitle: a: b\n---\nbody\n", b"---\ntitle: x\nno closer\n", b"caf\xe9\n", b"\xff\xfea\x00"]
)
def test_metadata_of_a_broken_card_is_refused_and_never_a_second_block(
    shelf: Shelf, reviser: Reviser, data: bytes
) -> None:
    (shelf.root / "bad.md").write_bytes(data)
    with pytest.raises(CardError) as caught:
        reviser.update("bad.md", Change(set={"tags": ["x"]}))
    assert caught.value.path == "bad.md"
    assert caught.value.hint
    assert (shelf.root / "bad.md").read_bytes() == data


def test_a_key_that_nobody_reads_is_written_and_told(reviser: Reviser) -> None:
    done = reviser.update("plan.md", Change(set={"Pinned": True, "team": "x"}))
    assert [(problem.code, problem.key) for problem in done.problems] == [("frontmatter-key", "pinned")]
    assert reviser.update("plan.md", Change(append="more")).problems == ()


@pytest.mark.parametrize("id", ["", "gone.md", "../plan.md", "/etc/passwd", "cogvault://user/plan.md", ".hidden.md"])
def test_what_names_no_card_is_refused_alike(reviser: Reviser, id: str) -> None:
    with pytest.raises(PathError, match="names no card"):
        reviser.update(id, Change("x"))


@pytest.mark.parametrize("id", ["plan.md", "cogvault://resources/plan.md", "cortex://resources/plan.md"])
def test_a_card_is_named_by_id_or_address(shelf: Shelf, reviser: Reviser, id: str) -> None:
    shelf.sync()
    assert reviser.update(id, Change(append="x")).id == "plan.md"


def test_a_card_that_changed_since_it_was_read_is_a_conflict(shelf: Shelf, reviser: Reviser) -> None:
    reviser.update("plan.md", Change(append="B's line"))
    after = _bytes(shelf)
    with pytest.raises(ConflictError):
        reviser.update("plan.md", Change("A's version"), hash_of(CARD))
    assert _bytes(shelf) == after


def test_an_edit_in_the_very_moment_of_an_append_is_kept(
    shelf: Shelf, reviser: Reviser, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits = iter([b"theirs\n"])

    def write(path: Path, data: bytes, *, expected_hash: str | None) -> None:
        for edit in edits:
            path.write_bytes(path.read_bytes() + edit)
        write_atomic(path, data, expected_hash=expected_hash)

    monkeypatch.setattr("cogvault.lifecycle.revise.write_atomic", write)
    reviser.update("plan.md", Change(append="- ours"))
    assert _bytes(shelf) == CARD + b"theirs\n" + b"\r\n- ours\r\n"


def test_appends_of_many_threads_are_all_kept(shelf: Shelf, reviser: Reviser) -> None:
    failed: list[BaseException] = []

    def append(number: int) -> None:
        try:
            for turn in range(5):
                reviser.update("plan.md", Change(append=f"- item {number}-{turn}"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=append, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    text = _bytes(shelf).decode()
    assert all(f"- item {number}-{turn}\r\n" in text for number in range(8) for turn in range(5))


def test_words_taken_from_the_text_follow_it_and_written_ones_stay(shelf: Shelf, reviser: Reviser) -> None:
    done = shelf.recorder.record(Draft("Deploys go out on Tuesday."))
    reviser.update(done.id, Change("Deploys go out on Thursday."))
    card = shelf.card(done.id)
    assert (card.title, card.description) == ("Deploys go out on Thursday", "Deploys go out on Thursday.")
    done = shelf.recorder.record(Draft("# Tea\n\nAna likes tea.", "Ana", description="What Ana likes"))
    reviser.update(done.id, Change("Ana likes coffee."))
    card = shelf.card(done.id)
    assert (card.title, card.description) == ("Ana", "What Ana likes")


def test_what_is_written_can_be_read_whole(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, max_card_bytes=100)
    (shelf.root / "plan.md").write_bytes(b"x" * 90)
    reviser = Reviser(shelf.workspace(), shelf.index.snapshot)
    with pytest.raises(CardError, match="100 are read"):
        reviser.update("plan.md", Change(append="y" * 20))
    assert _bytes(shelf) == b"x" * 90


def test_secrets_of_the_new_text_are_flagged_or_masked(shelf: Shelf, reviser: Reviser) -> None:
    token, other = "ghp_" + "aB3" * 12, "ghp_" + "cD4" * 12
    first = reviser.update("plan.md", Change(append=f"- {token}"))
    assert len(first.secrets) == 1
    second = reviser.update("plan.md", Change(append=f"- {other}"))
    assert [secret.line for secret in second.secrets] == [_bytes(shelf).decode().splitlines().index(f"- {other}") + 1]
    third = reviser.update("plan.md", Change(append=f"- {token}x", set={"source": token}, redact=True))
    assert third.secrets == ()
    assert _bytes(shelf).count(token.encode()) == 1
    assert token not in repr((first, second, third))


def test_a_link_inside_the_vault_is_written_through(shelf: Shelf, reviser: Reviser) -> None:
    (shelf.root / "plan.md").rename(shelf.root / "plan.txt")
    (shelf.root / "plan.md").symlink_to("plan.txt")
    reviser.update("plan.md", Change(append="- two"))
    assert (shelf.root / "plan.md").is_symlink()
    assert (shelf.root / "plan.txt").read_bytes() == CARD + b"- two\r\n"


@pytest.mark.parametrize(
    "head", ["---\ntitle: Card\n---\n\n", "---\r\ntitle: Card\r\n---\r\n\r\n", "\ufeff---\ntitle: Card\n---\n"]
)
def test_what_was_read_can_be_handed_back_as_the_body(shelf: Shelf, reviser: Reviser, head: str) -> None:
    newline = "\r\n" if "\r" in head else "\n"
    before = f"{head}# Card{newline}{newline}old text{newline}".encode()
    (shelf.root / "plan.md").write_bytes(before)
    text = before.decode().replace("\r\n", "\n")
    reviser.update("plan.md", Change(text.replace("old", "new")))
    assert _bytes(shelf) == before.replace(b"old", b"new")
    assert reviser.update("plan.md", Change(text.replace("old", "new"))).action is Action.UNCHANGED


def test_a_body_with_frontmatter_of_its_own_is_refused(shelf: Shelf, reviser: Reviser) -> None:
    with pytest.raises(CardError, match="frontmatter that is not the card's own"):
        reviser.update("plan.md", Change("---\ntitle: evil\n---\n\n# Plan\n"))
    assert _bytes(shelf) == CARD


def test_a_body_between_rules_is_no_frontmatter(shelf: Shelf, reviser: Reviser) -> None:
    reviser.update("plan.md", Change("---\nwords\n---\nmore"))
    assert _bytes(shelf).endswith(b"---\r\n\r\n---\r\nwords\r\n---\r\nmore\r\n")


def test_progress_output_in_a_card_does_not_decide_its_newlines(shelf: Shelf, reviser: Reviser) -> None:
    (shelf.root / "plan.md").write_bytes(b"# Log\n\n10%\r20%\r30%\r40%\r50%\n")
    reviser.update("plan.md", Change(append="Done.\nAll of it."))
    assert _bytes(shelf).endswith(b"50%\n\nDone.\nAll of it.\n")
