"""Code blocks of the documentation, and the programs that run them."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from cogvault_mcp.__main__ import command_line

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Blocks that show something and run nothing.
SHOWN = {"mermaid", "text"}
LANGUAGES = {"console", "json", "markdown", "output", "python", "sh", "toml", *SHOWN}
COGVAULT = Path(sys.executable).parent / "cogvault"


@dataclass(frozen=True, slots=True)
class Fence:
    """One code block: its language, the words after it, its text, and where its text starts."""

    path: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def is_of_client(self) -> bool:
        """True for configuration of another program (``client=NAME``); ``tests/plugin`` runs what it names."""
        return any(word.startswith("client=") for word in self.words)

    @property
    def where(self) -> str:
        """Place in the repository, as an editor understands it."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def fences(path: Path) -> list[Fence]:
    """All code blocks of one document, in order."""
    found = []
    for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        if token.type == "fence" and token.map:
            language, *words = token.info.split() or [""]
            found.append(Fence(path, token.map[0] + 2, language, tuple(words), token.content))
    return found


def run_python(fence: Fence, names: dict[str, Any]) -> str:
    """Run a block in the names of the blocks before it and give what it printed."""
    printed = io.StringIO()
    # Blank lines in front, so that a traceback names the line of the document.
    code = compile("\n" * (fence.line - 1) + fence.text, str(fence.path), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def run_console(fence: Fence, folder: Path) -> None:
    """Run each ``$ cogvault …`` line in a folder and compare what it prints, where something is shown."""
    expected_code = next((int(word.removeprefix("exit=")) for word in fence.words if word.startswith("exit=")), 0)
    for block in re.split(r"^(?=\$ )", fence.text, flags=re.MULTILINE):
        if not block.strip():
            continue
        command, _, shown = block.partition("\n")
        assert command.startswith("$ cogvault "), f"{fence.where}: {command!r} is no cogvault command"
        environ = {
            **os.environ,
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PATH": f"{COGVAULT.parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            command.removeprefix("$ "), shell=True, cwd=folder, capture_output=True, text=True, env=environ, timeout=120
        )
        assert done.returncode == expected_code, f"{fence.where}: {command}\n{done.stdout}{done.stderr}"
        if shown.strip():
            assert_same(fence, shown, done.stdout + done.stderr)


def assert_same(fence: Fence, shown: str, printed: str) -> None:
    """Compare as doctest does: ``...`` stands for anything, runs of white space are equal.

    Fractions and bars count as equal: a document shows real scores and times, which change with tuning and machine.
    """
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    same = doctest.OutputChecker().check_output(_steady(shown), _steady(printed), options)
    assert same, f"{fence.where} shows\n{shown}\nbut the program printed\n{printed}"


def _steady(text: str) -> str:
    return re.sub(r"[█▏▎▍▌▋▊▉]+", "█", re.sub(r"(?<!\d\.)\b\d+\.\d+\b(?!\.\d)", "0.0", text))


def check_shell(fence: Fence) -> None:
    """Set-up commands are not run, but what they name has to exist."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    extras = {}
    for file in (ROOT / "pyproject.toml", *ROOT.glob("cogvault_*/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        extras[project["name"]] = set(project.get("optional-dependencies", {}))
    for line in fence.text.splitlines():
        words = line.partition("#")[0].replace("'", "").replace('"', "").split()
        if words[:1] == ["make"]:
            assert words[1] in targets, f"{fence.where}: no target {words[1]}"
        elif words[:2] == ["pip", "install"]:
            for name, listed in re.findall(r"(cogvault[a-z-]*)(?:\[([a-z,]+)\])?", " ".join(words[2:])):
                assert set(listed.split(",")) - {""} <= extras[name], f"{fence.where}: {line}"
        elif words[:1] == ["cogvault-mcp"]:
            command_line().parse_args(words[1:])
        else:
            assert words[:1] in ([], ["cd"], ["export"], ["git"]), f"{fence.where}: {line!r} would not be checked"
