"""Recording writes one card, once, under a name of its own, and tells what is like it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.cards.markdown import MarkdownCardParser
from cogvault.cards.writer import hash_of
from cogvault.config import Config
from cogvault.errors import CardError, ConflictError, PathError, QueryError
from cogvault.indexes.memory import MemoryIndex
from cogvault.indexing.options import SyncOptions
from cogvault.indexing.report import SyncReport
from cogvault.indexing.sync import Syncer
from cogvault.lifecycle.drafting import MAX_WRITE_BYTES, draft_card
from cogvault.lifecycle.record import Recorder
from cogvault.lifecycle.workspace import Workspace
from cogvault.protocols import Snapshot
from cogvault.text.likeness import NEAR, likeness, print_of
from cogvault.types import Action, Card, Draft
from tests.lifecycle import likeness_pairs
from tests.lifecycle.conftest import Desk

NOW = datetime(2026, 5, 26, 10, 30, tzinfo=UTC)


class Shelf:
    """A vault with an index that follows only when asked."""

    def __init__(self, base: Path, **settings: object) -> None:
        self.root = base / "vault"
        self.root.mkdir()
        self.base = base
        self.index = MemoryIndex()
        self.told: list[str] = []
        self.config = Config.model_validate(settings)
        self.recorder = Recorder(self.workspace(), self.index.snapshot)

    def workspace(self) -> Workspace:
        return Workspace(
            root=self.root,
            config=self.config,
            parser=MarkdownCardParser(),
            index_folder=self.base / "index",
            notes_folder=self.base / "index",
            state_folder=self.base / "state",
            fresh=self.sync,
            latest=lambda: (self.sync(), SyncReport()),
            forget_text=lambda card: None,
            wrote=self.told.extend,
            clock=lambda: NOW,
        )

    def sync(self) -> Snapshot:
        Syncer(self.root, self.index, MarkdownCardParser(), None, SyncOptions(self.base / "index")).sync()
        return self.index.snapshot()

    def card(self, id: str) -> Card:
        return MarkdownCardParser().parse((self.root / id).read_bytes(), id=id, path=id)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_a_card_is_written_with_all_that_the_spec_names(shelf: Shelf) -> None:
    done = shelf.recorder.record(
        Draft(
            "We chose SQLite: the tool works offline.",
            "Why we chose SQLite: a decision",
            "project",
            ("db", "#db", "offline"),
            importance=0.8,
            pinned=True,
            valid_from=date(2026, 5, 1),
            valid_until=datetime(2027, 1, 1, 12, tzinfo=UTC),
            source="chat 12",
            meta={"review_by": "2026-12-01", "ticket": "POL-358"},
        )
    )
    assert done.action is Action.CREATED
    assert done.id == "project_why-we-chose-sqlite-a-decision.md"
    assert done.uri == "cogvault://resources/project_why-we-chose-sqlite-a-decision.md"
    assert done.hash == hash_of((shelf.root / done.id).read_bytes())
    assert (shelf.root / done.id).read_text() == (
        "---\n"
        "name: why-we-chose-sqlite-a-decision\n"
        "title: 'Why we chose SQLite: a decision'\n"
        "description: 'We chose SQLite: the tool works offline.'\n"
        "type: project\n"
        "created: 2026-05-26T10:30:00Z\n"
        "tags: [db, offline]\n"
        "importance: 0.8\n"
        "pinned: true\n"
        "valid_from: 2026-05-01\n"
        "valid_until: 2027-01-01T12:00:00Z\n"
        "source: chat 12\n"
        "review_by: 2026-12-01\n"
        "ticket: POL-358\n"
        "---\n\n"
        "We chose SQLite: the tool works offline.\n"
    )
    card = shelf.card(done.id)
    assert (card.pinned, card.importance, card.tags) == (True, 0.8, ("db", "offline"))
    assert not card.problems
    assert shelf.told == [done.id]


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# Release steps\n\n1. Bump\n", "Release steps"),
        ("Deploys go out on Tuesday. Ask Ana.", "Deploys go out on Tuesday"),
        ("- [ ] call Bob\n- rest", "call Bob"),
        ("**Ana** (2024-03-15): I like tea.", "I like tea"),
        ("```\ncode\n```\n\nExplained here.", "Explained here"),
        ("```\nonly code\n```", "only code"),
        ("用户喜欢简短的回答。还有别的。", "用户喜欢简短的回答"),
        ("word " * 40, "word word word word word word word word word word word word word word word word…"),
    ],
)
def test_a_title_is_taken_from_the_text(shelf: Shelf, content: str, title: str) -> None:
    done = shelf.recorder.record(Draft(content))
    assert shelf.card(done.id).title == title
    assert done.id.startswith("note_")


def test_frontmatter_of_the_content_is_kept_whole_and_completed(shelf: Shelf) -> None:
    content = '---\n# mine\ntitle: "Quoted"  # keep\ntags:\n  - a\ncustom: 1\n---\n\n# Body\n\ntext'
    done = shelf.recorder.record(Draft(content, title="Other", type="user", tags=("b",)))
    data = (shelf.root / done.id).read_text()
    assert done.id == "user_quoted.md"
    assert data.startswith('---\n# mine\ntitle: "Quoted"  # keep\ntags:\n  - a\ncustom: 1\nname: quoted\n')
    assert data.endswith("---\n\n# Body\n\ntext\n")
    card = shelf.card(done.id)
    assert (card.title, card.type, card.tags) == ("Quoted", "user", ("a",))
    assert [problem.key for problem in done.problems] == ["title", "tags"], "what was overruled is told"


@pytest.mark.parametrize("draft", [Draft("---\nPinned: true\n---\nText."), Draft("Text.", meta={"Pinned": True})])
def test_a_key_that_nobody_reads_is_kept_and_told(shelf: Shelf, draft: Draft) -> None:
    done = shelf.recorder.record(draft)
    [problem] = done.problems
    assert (problem.path, problem.code, problem.key) == (done.id, "frontmatter-key", "pinned")
    assert "Pinned: true" in (shelf.root / done.id).read_text()


def test_keys_under_metadata_count_as_there(shelf: Shelf) -> None:
    done = shelf.recorder.record(Draft("---\nname: x\nmetadata:\n  type: feedback\n---\nText.\n"))
    assert done.id == "feedback_x.md"
    assert "type: note" not in (shelf.root / done.id).read_text()


def test_line_endings_of_the_content_are_kept(shelf: Shelf) -> None:
    done = shelf.recorder.record(Draft("One.\r\n\r\nTwo.\r\n"))
    data = (shelf.root / done.id).read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert data.endswith(b"\r\n\r\nOne.\r\n\r\nTwo.\r\n")


@pytest.mark.parametrize(
    "draft",
    [
        Draft(""),
        Draft(" \n "),
        Draft("---\ntitle: x\nno closer\n"),
        Draft("---\ntitle: a: b\n---\nx\n"),
        Draft("x\x00y"),
        Draft("\ud800"),
        Draft("x" * (MAX_WRITE_BYTES + 1)),
        Draft("x", importance=2),
        Draft("x", valid_from="soon"),
        Draft("x", meta={"bad": object()}),
        Draft("x", meta={"a\nb": 1}),
        Draft("x", to="../out"),
        Draft("x", to="/etc/x.md"),
        Draft("x", to=".hidden/x.md"),
        Draft("x", to="folder/x.md"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_left(shelf: Shelf, draft: Draft) -> None:
    with pytest.raises((CardError, PathError)):
        shelf.recorder.record(draft)
    assert shelf.names() == []
    assert shelf.told == []


def test_what_is_written_can_be_read_whole(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, max_card_bytes=300)
    for size in (301, 290, 150):
        with pytest.raises(CardError):
            shelf.recorder.record(Draft("x" * size, title="t"))
    done = shelf.recorder.record(Draft("x" * 20, title="t"))
    assert (shelf.root / done.id).stat().st_size <= 300


@pytest.mark.parametrize(
    "title", ["สวัสดีชาวโลก", "🎉🎊", "こんにちは世界" * 20, "e\u0301te\u0301", "CON", "a/b\\c:d", "-draft"]
)
def test_every_title_gives_a_usable_name_and_stays_whole_in_the_card(shelf: Shelf, title: str) -> None:
    one = shelf.recorder.record(Draft("One text.", title))
    two = shelf.recorder.record(Draft("Another thing altogether.", title))
    assert one.id != two.id
    for done in (one, two):
        assert len(done.id.removesuffix(".md").encode()) <= 120
        assert shelf.card(done.id).title == title
    shelf.sync()
    assert {file.path for file in shelf.index.snapshot().files.values()} == {one.id, two.id}


def test_equal_titles_get_numbers_and_names_of_their_own(shelf: Shelf) -> None:
    ids = [shelf.recorder.record(Draft(text, "Standup")).id for text in ("Monday plan", "Ana is away", "Budget")]
    assert ids == ["note_standup.md", "note_standup-2.md", "note_standup-3.md"]
    assert [shelf.card(id).name for id in ids] == ["standup", "standup-2", "standup-3"]


def test_a_name_that_differs_in_case_only_is_taken(shelf: Shelf) -> None:
    (shelf.root / "NOTE_Standup.md").write_text("theirs")
    assert shelf.recorder.record(Draft("ours", "Standup")).id == "note_standup-2.md"


def test_an_identical_text_is_recorded_once(shelf: Shelf) -> None:
    first = shelf.recorder.record(Draft("The build takes 4 minutes.\n", "One"))
    for draft in (Draft("The build takes 4 minutes.", "Two", tags=("x",)), Draft("\r\nThe build takes 4 minutes.\r\n")):
        again = shelf.recorder.record(draft)
        assert (again.action, again.id, again.hash) == (Action.EXISTING, first.id, first.hash)
    shelf.sync()
    another = Recorder(shelf.workspace(), shelf.index.snapshot)
    assert another.record(Draft("The build takes 4 minutes.", "Three")).id == first.id, "found by the index"
    assert shelf.names() == [first.id]


def test_without_an_index_the_name_still_tells_an_identical_card(shelf: Shelf) -> None:
    first = shelf.recorder.record(Draft("The build takes 4 minutes.", "One"))
    another = Recorder(shelf.workspace(), shelf.index.snapshot)
    assert another.record(Draft("The build takes 4 minutes.", "One")).id == first.id


def test_a_card_that_says_something_else_by_now_is_no_twin(shelf: Shelf) -> None:
    first = shelf.recorder.record(Draft("The build takes 4 minutes.", "One"))
    (shelf.root / first.id).write_text("edited by hand")
    assert shelf.recorder.record(Draft("The build takes 4 minutes.", "One")).id == "note_one-2.md"
    (shelf.root / "note_one-2.md").unlink()
    assert shelf.recorder.record(Draft("The build takes 4 minutes.", "One")).action is Action.CREATED


def test_nearly_the_same_is_written_and_reported_at_once_and_by_the_index(shelf: Shelf) -> None:
    first = shelf.recorder.record(Draft("Deploys go out on Tuesday at 10:00.", "Deploys"))
    second = shelf.recorder.record(Draft("Deploys go out on Thursday at 10:00.", "New deploys"))
    assert second.action is Action.CREATED
    assert [card.id for card in second.similar] == [first.id]
    assert second.similar[0].title == "Deploys"
    assert NEAR <= second.similar[0].similarity < 1
    shelf.sync()
    third = Recorder(shelf.workspace(), shelf.index.snapshot).record(Draft("Deploys go out on Friday at 10:00.", "3"))
    assert {card.id for card in third.similar} == {first.id, second.id}


@pytest.mark.parametrize(("one", "other"), likeness_pairs.NEAR)
def test_pairs_that_say_nearly_the_same(one: str, other: str) -> None:
    assert NEAR <= likeness(print_of(one), print_of(other)) <= 1


@pytest.mark.parametrize(("one", "other"), likeness_pairs.APART)
def test_pairs_that_say_something_else(one: str, other: str) -> None:
    assert likeness(print_of(one), print_of(other)) < NEAR


@given(st.text(max_size=60), st.text(max_size=60))
def test_likeness_is_symmetric_and_bounded(one: str, other: str) -> None:
    there, back = likeness(print_of(one), print_of(other)), likeness(print_of(other), print_of(one))
    assert abs(there - back) < 1e-9
    assert -1e-9 <= there <= 1 + 1e-9
    assert likeness(print_of(one), print_of(f"\n{one} \r\n")) == 1


def test_a_named_card_is_never_replaced(shelf: Shelf) -> None:
    done = shelf.recorder.record(Draft("Ana likes tea.", to="cogvault://user/ana/likes.md"))
    assert (done.id, done.uri) == ("user/ana/likes.md", "cogvault://user/ana/likes.md")
    assert shelf.card(done.id).name == "likes"
    with pytest.raises(ConflictError):
        shelf.recorder.record(Draft("Something else", to="user/ana/likes.md"))
    assert shelf.recorder.record(Draft("Ana likes tea.", to="user/ana/likes.md")).action is Action.EXISTING


def test_a_folder_may_be_named(shelf: Shelf) -> None:
    done = shelf.recorder.record(Draft("Bob likes coffee.", "Coffee", to="cogvault://user/bob/"))
    assert done.id == "user/bob/note_coffee.md"


def test_secrets_are_flagged_by_line_and_never_quoted(shelf: Shelf) -> None:
    token = "ghp_" + "aB3" * 12
    done = shelf.recorder.record(Draft(f"Deploy key:\n\n{token}", "Keys"))
    lines = (shelf.root / done.id).read_text().split("\n")
    assert [token in lines[secret.line - 1] for secret in done.secrets] == [True] * len(done.secrets)
    assert done.secrets
    assert token not in repr(done.to_dict())


def test_words_taken_from_the_text_never_hold_a_secret(shelf: Shelf) -> None:
    done = shelf.recorder.record(Draft("The staging password: hunter2wombat"))
    text = (shelf.root / done.id).read_text()
    assert "hunter2wombat" not in done.id
    assert text.count("hunter2wombat") == 1
    assert len(done.secrets) == 1


def test_secrets_are_masked_when_asked_also_in_the_name(shelf: Shelf) -> None:
    token = "ghp_" + "aB3" * 12
    draft = Draft(f"---\nsource: {token}\n---\nUse {token} here.", f"Key {token}", meta={"x": token}, redact=True)
    done = shelf.recorder.record(draft)
    assert done.secrets == ()
    assert token.lower() not in (done.id + (shelf.root / done.id).read_text()).lower()
    assert shelf.card(done.id).source == "(redacted GitHub Token)"


def test_an_item_of_a_batch_that_is_no_card_is_refused_alone(desk: Desk) -> None:
    wrong: list[Any] = [Draft("x", title=5), Draft(5), "text", None, Draft("x", tags=[5]), Draft("x", meta=["a"])]
    done = desk.vault.record_many([Draft("One thing."), *wrong, Draft("Another fact.")])
    assert [result.is_done for result in done] == [True, *[False] * len(wrong), True]
    assert [problem.key for result in done for problem in result.problems] == [
        "title", "content", "drafts", "drafts", "tags", "meta",
    ]  # fmt: skip
    assert "title should be text, not 5" in done[1].problems[0].message
    assert len(desk.files()) == 2
    for no_series in (5, "text", Draft("x")):
        with pytest.raises(QueryError):
            desk.vault.record_many(no_series)  # type: ignore[arg-type]


def test_a_batch_writes_each_item_on_its_own(shelf: Shelf) -> None:
    drafts = [Draft("One thing."), Draft("Another fact."), Draft(""), Draft("Third topic."), Draft("One thing.")]
    done = shelf.recorder.record_many(drafts)
    assert [result.action for result in done] == ["created", "created", "refused", "created", "existing"]
    assert [result.is_done for result in done] == [True, True, False, True, True]
    assert "nothing to write" in done[2].problems[0].message
    assert len(shelf.names()) == 3


_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=80)


@given(content=_texts, title=st.none() | _texts, type=st.none() | _texts, tags=st.lists(_texts, max_size=3))
def test_every_draft_is_refused_or_gives_a_card_that_says_what_it_said(
    content: str, title: str | None, type: str | None, tags: list[str]
) -> None:
    parser = MarkdownCardParser()
    try:
        drafted = draft_card(Draft(content, title, type, tags), parser, "2026-05-26T10:30:00Z", 10_000)
        data = drafted.with_name("name")
    except CardError:
        return
    card = parser.parse(data, id="a.md", path="a.md")
    assert card.writable
    assert not card.problems
    assert len(drafted.stem.encode()) <= 120
    plain = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not plain.startswith("---"):
        assert card.body.strip("\n") == plain.strip("\n")
        assert card.title == (" ".join((title or "").split())[:1000] or card.title)
    assert drafted.with_name("name") == data


@pytest.mark.parametrize(
    "text", ["progress 10%\rprogress 100%", "a\r\nb\rc\r\n", "---\ntags: [a]\n---\n10%\r20%\r30%\r40%\n"]
)
def test_pasted_progress_output_leaves_no_lone_cr(tmp_path: Path, text: str) -> None:
    shelf = Shelf(tmp_path)
    done = shelf.recorder.record(Draft(text))
    data = (shelf.root / done.id).read_bytes()
    assert b"\r" not in data.replace(b"\r\n", b"")
    assert data.startswith((b"---\nname: ", b"---\r\nname: ", b"---\ntags: "))


def test_the_same_call_again_says_nothing_new(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    draft = Draft(
        "---\nsource: talk\n---\nPort is 80.",
        "Port",
        "project",
        ["net", "ops"],
        to="user/ana/",
        importance=0.5,
        valid_from="2026-01-01",
        meta={"n": 3, "cfg": {"a": [1, 2]}, "due": date(2026, 5, 1)},
    )
    first = shelf.recorder.record(draft)
    for recorder in (shelf.recorder, Recorder(shelf.workspace(), shelf.sync)):
        again = recorder.record(draft)
        assert (again.action, again.id, again.problems) == (Action.EXISTING, first.id, ())


def test_what_an_existing_card_does_not_say_is_told(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    first = shelf.recorder.record(Draft("Port is 80.", tags=["net"]))
    again = shelf.recorder.record(Draft("Port is 80.", "Port", tags=["ops"], to="notes.md", importance=1))
    assert (again.action, again.id) == (Action.EXISTING, first.id)
    assert [problem.key for problem in again.problems] == ["title", "tags", "importance", "to"]
    assert {(problem.path, problem.code) for problem in again.problems} == {(first.id, "argument-not-written")}
    assert "its tags stays ['net']" in again.problems[1].message


@pytest.mark.parametrize("is_known", [True, False])
def test_what_ana_has_is_not_what_bob_has(tmp_path: Path, is_known: bool) -> None:
    shelf = Shelf(tmp_path)
    places = ("cogvault://user/ana/likes/", "cogvault://user/bob/likes/", "cogvault://agent/bob/", "")
    made = []
    for place in places:
        made.append(shelf.recorder.record(Draft("Prefers dark mode.", to=place)))
        if is_known:
            shelf.sync()
    assert [done.action for done in made] == [Action.CREATED] * 4
    again = Recorder(shelf.workspace(), shelf.sync) if is_known else shelf.recorder
    for place, done in zip(places, made, strict=True):
        found = again.record(Draft("Prefers dark mode.", to=place))
        assert (found.action, found.id) == (Action.EXISTING, done.id)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("end", ["valid_until: 2026-01-01", "superseded_by: new.md", "named by another"])
def test_a_fact_that_returns_is_a_new_card(tmp_path: Path, end: str, is_known: bool) -> None:
    shelf = Shelf(tmp_path)
    first = shelf.recorder.record(Draft("Port is 80."))
    text = (shelf.root / first.id).read_text()
    if end == "named by another":
        (shelf.root / "new.md").write_text(f"---\nsupersedes: {first.id}\n---\nPort is 443.\n")
    else:
        (shelf.root / first.id).write_text(text.replace("\n---\n\n", f"\n{end}\n---\n\n"))
    if is_known or end == "named by another":
        shelf.sync()
    again = shelf.recorder.record(Draft("Port is 80."))
    assert (again.action, again.id != first.id) == (Action.CREATED, True)
    others = ["new.md"] if end == "named by another" else []
    assert [card.id for card in again.similar] == [first.id, *others]
    assert shelf.recorder.record(Draft("Port is 80.")).id == again.id


@pytest.mark.parametrize("folder", ["", "resources/ops/"])
def test_a_card_that_an_editor_wrote_just_now_is_not_written_again(tmp_path: Path, folder: str) -> None:
    shelf = Shelf(tmp_path)
    shelf.recorder.record(Draft("The first one.", to=folder))
    shelf.sync()
    for name in ("Hand made.md", "Ручна.md"):
        (shelf.root / folder / name).write_text(f"# {name}\n\nDeploys go out on Tuesday.\n")
        found = shelf.recorder.record(Draft(f"# {name}\n\nDeploys go out on Tuesday.", to=folder))
        assert (found.action, found.id) == (Action.EXISTING, folder + name)
    (shelf.root / folder / "script.txt").write_text("No card.\n")
    assert shelf.recorder.record(Draft("No card.", to=folder)).action is Action.CREATED


def test_texts_that_differ_in_a_short_word_only_are_known_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    words = " ".join(f"templateword{chr(97 + number // 26)}{chr(97 + number % 26)}longish" for number in range(40))
    colors = ("red", "blue", "green", "pink", "gold", "grey", "teal", "navy", "lime", "rose", "mint", "plum", "rust")
    for color in colors:
        shelf.recorder.record(Draft(f"{words} colour {color}.", color))
    shelf.sync()
    again = Recorder(shelf.workspace(), shelf.index.snapshot)
    found = [again.record(Draft(f"{words} colour {color}.", f"{color} again")).action for color in colors]
    assert found == [Action.EXISTING] * len(colors)
