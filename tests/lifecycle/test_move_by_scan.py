"""Moving by what the index knows gives the files that moving by reading every file would give."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogvault.cards.markdown import MarkdownCardParser
from cogvault.lifecycle.renaming import Renaming
from cogvault.retrieval.succession import SharedGraph
from cogvault.types import Card, CardInfo
from tests.lifecycle.conftest import Desk

_PARSER = MarkdownCardParser()
_PATHS = ("a.md", "b c.md", "note_d.md", "x/a.md", "x/B-C.md", "x/y/e.md", "user/Ünï.md")
_NAMES = ("a", "A", "b c", "b-c", "B_C.md", "d", "note_d", "e", "x/a", "x/a.md", "../a", "./a", "/a", "Ünï", "ünï", "T")
_paths = st.sampled_from(_PATHS)
_names = st.sampled_from(_NAMES)
_links = st.lists(
    st.builds(
        lambda name, form: form.replace("@", name if "[[" in form else name.replace(" ", "%20")),
        _names,
        st.sampled_from(["[[@]]", "[[@|t]]", "![[@#h]]", "[m](@)", "`[[@]]`", "[m](@#h)"]),
    ),
    max_size=3,
).map(" ".join)
_heads = st.dictionaries(
    st.sampled_from(["title", "name", "aliases", "supersedes", "superseded_by", "type"]),
    _names | st.just("note"),
    max_size=2,
).map(lambda keys: "".join(f"{key}: {value}\n" for key, value in keys.items()))
_texts = st.builds(lambda head, body: f"---\n{head}---\n{body}\n" if head else f"{body}\n", _heads, _links)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _paths, _texts),
        st.tuples(st.just("delete"), _paths, st.none()),
        st.tuples(st.just("move"), _paths, _paths),
        st.tuples(st.just("search"), _names, st.none()),
    ),
    min_size=2,
    max_size=10,
)


def _by_scan(files: dict[str, bytes], old: str, new: str) -> dict[str, bytes]:
    """The files after a move, by parsing and rewriting every one of them."""
    cards = {id: _PARSER.parse(files[id], id=id, path=id) for id in sorted(files)}
    moved = _PARSER.parse(files[old], id=new, path=new)
    renaming = Renaming(SharedGraph(), cast(list[CardInfo], list(cards.values())), old, moved)

    def rewritten(card: Card) -> bytes:
        return renaming.rewrite(files[card.id], card).data

    return {new if id == old else id: rewritten(card) for id, card in cards.items()}


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_paths, _texts, min_size=3), _steps)
def test_any_moves_between_edits_by_hand_give_what_a_scan_gives(
    texts: dict[str, str], steps: list[tuple[str, str, str | None]]
) -> None:
    with tempfile.TemporaryDirectory() as base:
        desk = Desk(Path(base).resolve())
        try:
            for path, text in texts.items():
                desk.write(path, text)
            for step, path, given in steps:
                files = desk.files()
                if step == "write":
                    desk.write(path, cast(str, given))
                elif step == "delete":
                    (desk.root / path).unlink(missing_ok=True)
                elif step == "search":
                    desk.vault.search(path)
                elif path in files and given not in files:
                    expected = _by_scan(files, path, cast(str, given))
                    assert desk.vault.move(path, cast(str, given)).id == given
                    assert desk.files() == expected
        finally:
            desk.close()
