from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogvault.indexing.ignore import IgnoreRules, is_scratch


def ignores(patterns: list[str], path: str) -> bool:
    """As a scan asks: folder by folder, then the file."""
    rules, _ = IgnoreRules().plus(patterns)
    names = path.split("/")
    folders = ["/".join(names[:count]) + "/" for count in range(1, len(names))]
    return any(rules.verdict(part) for part in [*folders, path])


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        (r"\#x#", "#x#", True),
        ("#x#", "#x#", False),
        (r"\!x.md", "!x.md", True),
        ("/root.md", "root.md", True),
        ("/root.md", "sub/root.md", False),
        ("dir/", "dir/a.md", True),
        ("dir/", "dir", False),
        ("dir/", "x/dir/a.md", True),
        ("**/tmp", "a/b/tmp", True),
        ("a/**/b.md", "a/b.md", True),
        ("a/**/b.md", "a/x/y/b.md", True),
        ("*.md", "x/y.md", True),
        ("x/*.md", "x/y/z.md", False),
        ("n?te.md", "note.md", True),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("trailing.md   ", "trailing.md", True),
        ("", "a.md", False),
    ],
)
def test_patterns_mean_what_they_mean_in_git(pattern: str, path: str, ignored: bool) -> None:
    assert ignores([pattern], path) is ignored


def test_a_later_negation_keeps_a_file_but_not_inside_an_ignored_folder() -> None:
    assert not ignores(["*.md", "!keep.md"], "keep.md")
    assert ignores(["!keep.md", "*.md"], "keep.md")
    assert ignores(["dir/", "!dir/keep.md"], "dir/keep.md")
    assert not ignores(["dir/*", "!dir/keep.md"], "dir/keep.md")
    assert not ignores(["dir/**", "!dir/keep.md"], "dir/keep.md")


def test_a_stronger_set_wins_and_says_nothing_about_others() -> None:
    weak, _ = IgnoreRules().plus(["*.md"])
    strong, _ = weak.plus(["!a.md"])
    assert strong.verdict("a.md") is False
    assert strong.verdict("b.md") is True
    assert strong.verdict("c.txt") is None


def test_patterns_of_a_folder_are_relative_to_it() -> None:
    rules, _ = IgnoreRules().plus(["/a.md"], folder="sub/")
    assert rules.verdict("sub/a.md") is True
    assert rules.verdict("a.md") is None
    assert rules.verdict("sub/sub/a.md") is None


_letters = st.text("ab .#!-+()é~", max_size=3).map(lambda text: f"{text}x")
_inner = st.lists(_letters, min_size=1, max_size=3).map("/".join)


@given(
    lines=st.lists(
        st.builds(
            lambda negated, anchored, text, folder: (negated, f"{anchored}{text}", folder),
            st.sampled_from(["", "!"]),
            st.sampled_from(["", "/"]),
            _inner,
            st.sampled_from(["", "/"]),
        ),
        min_size=1,
        max_size=4,
    ),
    data=st.data(),
)
def test_a_name_means_what_an_expression_for_it_means(lines: list[tuple[str, str, str]], data: st.DataObject) -> None:
    plain, _ = IgnoreRules().plus("".join(parts) for parts in lines)
    wild, _ = IgnoreRules().plus(f"{negated}{text[:-1]}[x]{folder}" for negated, text, folder in lines)
    named = st.sampled_from([text.removeprefix("/") for _, text, _ in lines])
    for path in data.draw(st.lists(st.one_of(_inner, named, st.tuples(_letters, named).map("/".join)), max_size=6)):
        assert [plain.verdict(path), plain.verdict(f"{path}/")] == [wild.verdict(path), wild.verdict(f"{path}/")]


def test_a_list_of_names_needs_no_expressions_whose_number_would_count_for_each_card() -> None:
    rules, problems = IgnoreRules().plus([f"{folder}secret {n}.md" for n in range(100) for folder in ("", "/", "a/")])
    assert [(len(one.plain), one.wild, problems) for one in rules.sets] == [(300, (), [])]
    assert rules.verdict("b/secret 99.md") is True
    assert rules.verdict("b/secret 100.md") is None


def test_scratch_files_are_known_by_name() -> None:
    scratch = [".#x", "x~", "#x#", "x.swp", "4913", "x.tmp", ".~lock.x#", "~$x.md", ".hidden.md", "\u200b.md"]
    assert [name for name in scratch if not is_scratch(name)] == []
    assert [name for name in ["x.md", "#x.md", "x#.md", "tmp.md", "4913.md", "…x.md"] if is_scratch(name)] == []


_name = st.sampled_from(["a", "b", "c", "d.md", "e.md"])
_path = st.lists(_name, min_size=1, max_size=4).map("/".join)
_piece = st.sampled_from(["a", "b", "c", "d.md", "*", "?", "*.md", "**", "[ab]"])
_pattern = st.builds(
    lambda negated, anchored, pieces, folder: negated + anchored + "/".join(pieces) + folder,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(_piece, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git, which this holds the rules against, is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(_pattern, min_size=1, max_size=4), paths=st.lists(_path, min_size=1, max_size=12, unique=True))
def test_git_ignores_the_same_files(repository: Path, patterns: list[str], paths: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(patterns) + "\n")
    ran = subprocess.run(
        ["git", "-C", str(repository), "check-ignore", "--no-index", "--stdin"],
        input="\n".join(paths),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1)
    assert {path for path in paths if ignores(patterns, path)} == set(ran.stdout.split())
