"""Moving a card: every link goes along, nothing else changes, and whatever fails leaves every byte alone."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogvault import Config, Vault
from cogvault.cards.link_spans import find_links
from cogvault.cards.links import LinkResolver
from cogvault.cards.markdown import MarkdownCardParser
from cogvault.config import state_folder
from cogvault.errors import CardError, ConflictError, PathError
from cogvault.lifecycle.renaming import Renaming
from cogvault.lifecycle.usage import Usage
from cogvault.retrieval.succession import SharedGraph
from cogvault.types import Action, Card, CardInfo
from tests.lifecycle.conftest import Desk

FORMS = (
    "see [[old]], [[old.md]], [[OLD|shown]], [[old#Part]], [[old^b1]], [[old#Part|both]], ![[old]] and ![[old#Part]]\n"
    'also [md](old.md), [md](<old.md>), [md](./old.md#part "title"), [no suffix](old) and [ref][r]\n\n'
    "| a | b |\n|---|---|\n| [[old\\|alias]] | [[old#Part\\|x]] |\n\n"
    "[r]: old.md\n"
)


def test_every_form_is_rewritten_and_code_is_not(desk: Desk) -> None:
    desk.write("old.md", "# Something\n\nabout itself: [[old]], [[#Something]], [x](old.md)\n")
    code = "\n`[[old]]` and [[other]] [x](https://e.org/old.md)\n\n```\n[[old]]\n```\n\n    [[old]]\n"
    desk.write("a.md", FORMS + code)
    result = desk.vault.move("old.md", "new name.md")
    expected = (
        FORMS.replace("](old.md", "](new%20name.md")
        .replace("](<old.md", "](<new name.md")
        .replace("](./old.md", "](./new%20name.md")
        .replace("](old)", "](new%20name)")
        .replace("[r]: old.md", "[r]: new%20name.md")
        .replace("[[old", "[[new name")
        .replace("[[OLD", "[[new name")
    )
    assert desk.read("a.md") == expected + code
    assert desk.read("new name.md") == "# Something\n\nabout itself: [[new name]], [[#Something]], [x](new%20name.md)\n"
    assert result.links_rewritten == 17
    assert (result.id, result.action, result.problems) == ("new name.md", Action.MOVED, ())
    assert result.uri == "cogvault://resources/new%20name.md"
    assert not (desk.root / "old.md").exists()
    card = desk.card("a.md")
    resolver = LinkResolver(desk.vault.cards())
    led = [resolver.resolve(link.target, source_id="a.md", kind=link.kind).id for link in card.links]
    assert (led.count("new name.md"), led.count(None)) == (15, 1)


def test_links_in_rarer_forms_follow_too(desk: Desk) -> None:
    desk.write("old.md", "# Something\n")
    desk.write("sub/here.md", "# Here\n")
    before = (
        '[r]: old.md "Title"\n[s]: <old.md> (Title)\n\n[x](old.md\n"t") [y](old.md (t)) [z](\told.md ) [c](old.md?q=1) '
        "[d](old.md?q=1#part) <a href=\"old.md\">it</a> <a class='k' href='old.md#part'>it</a> "
        '[r] [s]\n\n`<a href="old.md">` <a href="https://e.org/old.md">there</a> <a href=\'old.png\'>pic</a>\n'
    )
    desk.write("a.md", before)
    result = desk.vault.move("old.md", "sub/new.md")
    kept = before.index("`")
    after = before[:kept].replace("old.md", "sub/new.md")
    assert desk.read("a.md") == after + before[kept:]
    assert (result.links_rewritten, result.problems) == (9, ())


def test_only_targets_change_in_crlf_bom_and_odd_files(desk: Desk) -> None:
    desk.write("old.md", b"x\r\n")
    before = b'\xef\xbb\xbf---\r\ntitle: "L"  # why\r\n---\r\n\r\nsee [[old]]  \r\nlone\rcr [[old|t]]\n\ttab [[old]]'
    desk.write("links.md", before)
    mtime = (desk.root / "old.md").stat().st_mtime_ns
    assert desk.vault.move("old.md", "n.md").links_rewritten == 3
    assert (desk.root / "links.md").read_bytes() == before.replace(b"[[old", b"[[n")
    assert (desk.root / "n.md").read_bytes() == b"x\r\n"
    assert (desk.root / "n.md").stat().st_mtime_ns == mtime


def test_links_relative_to_a_folder_lead_to_the_same_cards_from_another(desk: Desk) -> None:
    desk.write(
        "a/old.md", "[s](sib.md) [u](../up.md) [[./sib]] [[../up]] [d](deep/x.md) [[a/sib]] [[sib]] ![pic](p.png)\n"
    )
    for id in ("a/sib.md", "up.md", "a/deep/x.md"):
        desk.write(id, "text\n")
    desk.write("a/from.md", "[o](old.md) [[old]] [[a/old]]\n")
    desk.write("b/from.md", "[o](../a/old.md) [[../a/old]] [[old]]\n")
    result = desk.vault.move("a/old.md", "b/c/old.md")
    assert desk.read("b/c/old.md") == (
        "[s](../../a/sib.md) [u](../../up.md) [[../../a/sib]] [[../../up]] [d](../../a/deep/x.md) [[a/sib]] [[sib]] "
        "![pic](p.png)\n"
    )
    assert desk.read("a/from.md") == "[o](../b/c/old.md) [[old]] [[b/c/old]]\n"
    assert desk.read("b/from.md") == "[o](c/old.md) [[./c/old]] [[old]]\n"
    assert result.links_rewritten == 9


def test_a_folder_keeps_the_name_and_an_address_is_a_place(desk: Desk) -> None:
    desk.write("a.md", "x\n")
    assert desk.vault.move("a.md", "notes").id == "notes/a.md"
    assert desk.vault.move("cogvault://resources/notes/a.md", "cogvault://user/ana/goals/").id == "user/ana/goals/a.md"
    moved = desk.vault.move("cortex://user/ana/goals/a.md", "cogvault://agent/x/50%25%20plan%20%231.md")
    assert moved.id == "agent/x/50% plan #1.md"
    assert desk.vault.read(moved.uri).text == "x\n"


def test_a_title_still_leads_there_and_stays(desk: Desk) -> None:
    desk.write("old.md", "---\ntitle: Night shift\naliases: [ops]\n---\nx\n")
    desk.write("a.md", "[[Night shift]] [[ops]] [[old]]\n")
    assert desk.vault.move("old.md", "new.md").links_rewritten == 1
    assert desk.read("a.md") == "[[Night shift]] [[ops]] [[new]]\n"


def test_of_two_cards_with_one_stem_only_links_to_the_moved_one_follow(desk: Desk) -> None:
    desk.write("a/todo.md", "one\n")
    desk.write("b/todo.md", "two\n")
    desk.write("a/x.md", "[[todo]] [[b/todo]]\n")
    desk.write("b/x.md", "[[todo]] [[a/todo]]\n")
    desk.write("c/x.md", "[[todo]]\n")
    assert desk.vault.move("a/todo.md", "c/done.md").links_rewritten == 3
    assert desk.read("a/x.md") == "[[done]] [[b/todo]]\n"
    assert desk.read("b/x.md") == "[[todo]] [[c/done]]\n"
    assert desk.read("c/x.md") == "[[done]]\n"


def test_a_new_name_catches_no_link_of_another_card_and_wakes_ghosts(desk: Desk) -> None:
    desk.write("old.md", "x\n")
    desk.write("deep/plan.md", "the plan\n")
    desk.write("a.md", "[[plan]] [[waiting]] [[old]]\n")
    desk.vault.move("old.md", "plan.md")  # by "plan" alone a move that was cut off would be misunderstood
    assert desk.read("a.md") == "[[deep/plan]] [[waiting]] [[/plan]]\n"
    desk.vault.move("plan.md", "waiting.md")
    assert desk.read("a.md") == "[[deep/plan]] [[waiting]] [[/waiting]]\n"


def test_frontmatter_names_follow_in_every_way_of_writing(desk: Desk) -> None:
    desk.write("old.md", "---\nsupersedes: past\n---\nx\n")
    desk.write("past.md", "---\nsuperseded_by: '[[old]]'  # why\n---\nx\n")
    desk.write("list.md", "---\nsupersedes:\n  - past\n  - old.md\ntitle: L\n---\nx\n")
    desk.write("comma.md", "---\nsuperseded_by: past, old\n---\nx\n")
    desk.write("nested.md", "---\nmetadata:\n  superseded_by: old\n---\nx\n")
    desk.write("styled.md", "---\nsupersedes: [\"old\", 'past']  # both\n---\nx\n")
    assert desk.vault.move("old.md", "new.md").links_rewritten == 0
    assert desk.read("past.md") == "---\nsuperseded_by: '[[new]]'  # why\n---\nx\n"
    assert desk.read("list.md") == "---\nsupersedes:\n  - past\n  - new.md\ntitle: L\n---\nx\n"
    assert desk.read("comma.md") == "---\nsuperseded_by: past, new\n---\nx\n"
    assert desk.read("nested.md") == "---\nmetadata:\n  superseded_by: new\n---\nx\n"
    assert desk.read("styled.md") == "---\nsupersedes: [\"new\", 'past']  # both\n---\nx\n"
    assert desk.read("new.md") == "---\nsupersedes: past\n---\nx\n"


def test_a_hand_edit_of_a_moment_ago_is_seen(desk: Desk) -> None:
    desk.write("old.md", "x\n")
    vault = desk.open(refresh_seconds=3600)
    vault.search("x")
    desk.write("late.md", "[[old]]\n")
    assert vault.move("old.md", "new.md").links_rewritten == 1
    assert desk.read("late.md") == "[[new]]\n"


@pytest.mark.parametrize("new", ["b.md", "B.md/../b.md", "sub/b.md"])
def test_a_place_that_is_taken_is_refused_and_nothing_changes(desk: Desk, new: str) -> None:
    for id in ("a.md", "b.md", "sub/b.md"):
        desk.write(id, "same\n")
    desk.write("links.md", "[[a]]\n")
    before = desk.files()
    with pytest.raises((ConflictError, PathError)):
        desk.vault.move("a.md", new)
    assert desk.files() == before


def test_a_composed_name_is_the_file_with_the_decomposed_one(desk: Desk) -> None:
    desk.write("Cafe\u0301.md", "x\n")
    desk.write("a.md", "y\n")
    assert desk.vault.move("Caf\u00e9.md", "Caf\u00e9.md").action is Action.UNCHANGED
    with pytest.raises(ConflictError):
        desk.vault.move("a.md", "Caf\u00e9.md")
    assert sorted(desk.files()) == ["Cafe\u0301.md", "a.md"]


def test_a_rename_of_case_keeps_the_card_and_its_uses(desk: Desk) -> None:
    desk.write("Note.md", "about wombats\n")
    desk.write("b.md", "[[Note]]\n")
    desk.vault.sync()
    usage = Usage(state_folder(desk.root, desk.vault.config) / "usage.sqlite", lambda: desk.now)
    usage.count(["Note.md"])
    result = desk.vault.move("Note.md", "note.md")
    assert list(usage.all()) == ["note.md"]
    usage.close()
    assert result.action is Action.MOVED
    assert desk.found("wombats") == ["note.md"]
    assert desk.vault.search("wombats")[0].related == ("b.md",)


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (
            "Case.md", "case.md",
            "[t](Case.md) [[Case]] [[case]] [[CASE|z]] [t](case.md#h) ![[Case.md]] [t](./Case.md)\n",
            "[t](case.md) [[case]] [[case]] [[CASE|z]] [t](case.md#h) ![[case.md]] [t](./case.md)\n",
        ),
        ("Notes/a.md", "notes/a.md", "[t](Notes/a.md) [t](notes/a.md)\n", "[t](notes/a.md) [t](notes/a.md)\n"),
        ("a-b.md", "a_b.md", "[t](a-b.md) [[a-b]] [[a b]] [[a_b]]\n", "[t](a_b.md) [[a_b]] [[a b]] [[a_b]]\n"),
    ],
)  # fmt: skip
def test_links_that_say_the_old_spelling_of_a_name_say_the_new_one(
    desk: Desk, old: str, new: str, before: str, after: str
) -> None:
    desk.write(old, "x\n")
    desk.write("here.md", f"---\nsupersedes: {old.rpartition('/')[2]}\n---\n{before}")
    result = desk.vault.move(old, new)
    assert desk.read("here.md") == f"---\nsupersedes: {new.rpartition('/')[2]}\n---\n{after}"
    assert result.problems == ()


def test_a_place_outside_of_the_vault_s_cards_is_refused(desk: Desk) -> None:
    desk.write("a.md", "x\n")
    desk.write(".cogvaultignore", "private/\n")
    flat = desk.open(recursive=False)
    before = desk.files()
    for vault, new in ((desk.vault, "private/a.md"), (flat, "notes/a.md"), (flat, "b"), (desk.vault, "~$a.md")):
        with pytest.raises(CardError):
            vault.move("a.md", new)
    assert desk.files() == before
    assert flat.move("a.md", "user/a.md").id == "user/a.md"


def test_a_symbolic_link_is_not_moved(desk: Desk) -> None:
    desk.write("sub/text.txt", "x\n")
    (desk.root / "a.md").symlink_to("sub/text.txt")
    vault = desk.open(recursive=False)
    with pytest.raises(CardError, match="symbolic link"):
        vault.move("a.md", "b.md")
    assert (desk.root / "a.md").is_symlink()


def test_one_card_that_cannot_be_rewritten_stops_no_other_and_is_told(desk: Desk) -> None:
    desk.write("old.md", "x\n")
    desk.write("good.md", "[[old]]\n")
    desk.write("legacy.md", b"caf\xe9 [[old]]\n")
    result = desk.vault.move("old.md", "new.md")
    assert desk.read("good.md") == "[[new]]\n"
    assert (desk.root / "legacy.md").read_bytes() == b"caf\xe9 [[old]]\n"
    [problem] = result.problems
    assert (problem.path, problem.code, problem.line) == ("legacy.md", "link-not-rewritten", 1)
    assert result.links_rewritten == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no such permissions")
def test_unreadable_cards_are_listed(plain_user_vault: Path) -> None:
    base, root = plain_user_vault.parent, plain_user_vault
    for name, text in {"old": "x", "good": "[[old]]", "known": "[[old]]", "unknown": "[[old]]"}.items():
        (root / f"{name}.md").write_text(text)
    (root / "unknown.md").chmod(0)
    config = Config(model="none", index_dir=base / "index", cache_dir=base / "cache", state_dir=base / "state")
    with Vault(root, config) as vault:
        vault.sync()
        (root / "known.md").chmod(0)
        result = vault.move("old.md", "new.md")
    assert [(problem.path, problem.code) for problem in result.problems] == [
        ("known.md", "link-not-rewritten"),
        ("unknown.md", "unreadable"),
    ]
    assert (root / "good.md").read_text() == "[[new]]"
    assert result.links_rewritten == 1


def test_a_name_that_no_wiki_link_can_hold_is_told(desk: Desk) -> None:
    desk.write("old.md", "x\n")
    desk.write("a.md", "[[old]] [m](old.md)\n")
    result = desk.vault.move("old.md", "50% plan #1 [x].md")
    assert desk.read("a.md") == "[[old]] [m](50%25%20plan%20%231%20%5Bx%5D.md)\n"
    [problem] = result.problems
    assert (problem.path, problem.code, problem.line) == ("a.md", "link-not-rewritten", 1)
    assert result.links_rewritten == 1


def test_a_card_whose_path_no_link_can_hold_is_linked_by_its_title(desk: Desk) -> None:
    desk.write("old.md", "---\ntitle: Plan one\n---\nx\n")
    desk.write("a.md", "[[old|p]]\n")
    assert desk.vault.move("old.md", "plan #1.md").problems == ()
    assert desk.read("a.md") == "[[Plan one|p]]\n"


@pytest.mark.parametrize("name", ["old.md", "nothing.md"])
def test_what_cannot_be_moved_leaves_every_byte_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    desk.write("old.md", "[[old]]\n")
    desk.write("a.md", "[[old]] [[nothing]]\n")
    desk.vault.sync()
    before = desk.files()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cogvault.lifecycle.move.make_folder", full)
    with pytest.raises((OSError, PathError)):
        desk.vault.move(name, "sub/new.md")
    assert desk.files() == before


class Killed(BaseException):
    """A kill: nothing is cleaned up after it."""


@pytest.mark.parametrize("step", range(12))
def test_a_kill_at_any_step_is_healed_by_the_same_call(desk: Desk, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    desk.write("dir/old.md", "me: [[old]] [s](sib.md)\n")
    desk.write("dir/sib.md", "[o](old.md)\n")
    desk.write("a.md", "[[old]] [[dir/old]]\n")
    desk.write("b.md", "---\nsupersedes: old\n---\n[[old|x]]\n")
    desk.write("t.md", "---\ntitle: new\n---\nnot it\n")
    desk.write("c.md", "[[new]]\n")
    desk.vault.sync()
    names = ("rename_to_new", "write_atomic", "flush_folder", "_remove_unchanged")
    calls = 0
    import cogvault.lifecycle.move as module

    def counted(name: str) -> None:
        real = getattr(module, name)

        def step_or_die(*args: object, **kwargs: object) -> object:
            nonlocal calls
            calls += 1
            if calls == step + 1:
                raise Killed
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, step_or_die)

    for name in names:
        counted(name)
    monkeypatch.setattr(module, "put_back", lambda *_: None)  # a killed process undoes nothing
    try:
        desk.vault.move("dir/old.md", "new.md")
        killed = False
    except Killed:
        killed = True
    assert killed or step > 7
    monkeypatch.undo()
    again = desk.open()
    if (desk.root / "dir/old.md").exists():
        again.move("dir/old.md", "new.md")
    assert desk.read("new.md") == "me: [[new]] [s](dir/sib.md)\n"
    assert desk.read("dir/sib.md") == "[o](../new.md)\n"
    # The title of another card is "new" until the move is done.
    assert desk.read("a.md") == "[[/new]] [[/new]]\n"
    assert desk.read("b.md") == "---\nsupersedes: /new\n---\n[[/new|x]]\n"
    assert desk.read("c.md") == "[[t]]\n"
    assert not (desk.root / "dir/old.md").exists()
    again.sync()
    assert [card.id for card in again.cards()] == ["a.md", "b.md", "c.md", "dir/sib.md", "new.md", "t.md"]


_PARSER = MarkdownCardParser()
_ids = st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "y/a b.md", "y/Ünï.md"])
_texts = st.sampled_from(
    ["a", "b", "x/a", "x/b.md", "../a", "./b", "y/a b", "a b", "ünï", "c", "/a", "nothing", "T", "", "x/y/c"]
)


def _link(text: str, form: str) -> str:
    return form.replace("@", text.replace(" ", "%20") if "](" in form and "<" not in form else text)


_forms = st.sampled_from(["[[@]]", "[[@|t]]", "[[@#h]]", "![[@]]", "[m](@)", "[m](<@>)", "`[[@]]`", "[m](@#h)"])
_bodies = st.lists(st.tuples(_texts, _forms), max_size=4).map(
    lambda links: " ".join(_link(text, form) for text, form in links) + "\n"
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_ids, _bodies, min_size=1), st.data())
def test_after_any_move_every_link_leads_where_it_led(bodies: dict[str, str], data: st.DataObject) -> None:
    old = data.draw(st.sampled_from(sorted(bodies)))
    free = sorted({"z.md", "x/z.md", "x/y/a.md", "b/a.md", "y/q r.md", *_IDS} - set(bodies))
    new = data.draw(st.sampled_from(free))
    cards = {id: _PARSER.parse(body.encode(), id=id, path=id) for id, body in bodies.items()}
    moved = _PARSER.parse(bodies[old].encode(), id=new, path=new)
    known = cast(list[CardInfo], [cards[id] for id in sorted(cards)])  # a card is as good as what an index knows of it
    renaming = Renaming(SharedGraph(), known, old, moved)
    concerned = {card.id for card in renaming.concerned()}
    after: dict[str, Card] = {}
    for id, card in cards.items():
        there = new if id == old else id
        rewritten = renaming.rewrite(bodies[id].encode(), card)
        assert rewritten.problems == ()
        after[there] = _PARSER.parse(rewritten.data, id=there, path=there)
        if id != old and id not in concerned:
            assert rewritten.data == bodies[id].encode()
    was, now = LinkResolver(cards.values()), LinkResolver(after.values())
    for id, card in cards.items():
        there = new if id == old else id
        links = find_links(after[there].body)
        assert len(links) == len(card.links)
        for before, link in zip(card.links, links, strict=True):
            assert (before.kind, before.heading, before.block, before.text) == (
                link.kind,
                link.heading,
                link.block,
                link.text,
            )
            led = was.resolve(before.target, source_id=id, kind=before.kind).id
            leads = now.resolve(link.target, source_id=there, kind=link.kind).id
            if led is not None:
                assert leads == (new if led == old else led)
            else:
                assert link == before


_IDS = ("a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "y/a b.md", "y/Ünï.md")


def test_cards_that_link_to_each_other_are_moved_by_many_at_once(desk: Desk) -> None:
    count = 6
    for number in range(count):
        links = " ".join(f"[[card{other}]]" for other in range(count))
        desk.write(f"card{number}.md", f"{number}: {links}\n")
    desk.vault.sync()
    with ThreadPoolExecutor(count) as pool:
        moves = [pool.submit(desk.vault.move, f"card{number}.md", f"moved{number}.md") for number in range(count)]
        for move in moves:
            move.result()
    links = " ".join(f"[[moved{other}]]" for other in range(count))
    assert desk.files() == {f"moved{number}.md": f"{number}: {links}\n".encode() for number in range(count)}
