"""Every code block in the documentation runs, and prints what the document says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cogvault.cards.markdown import MarkdownCardParser
from cogvault.config import resolve
from tests.docs.fences import (
    DOCUMENTS,
    LANGUAGES,
    ROOT,
    SHOWN,
    assert_same,
    check_shell,
    fences,
    run_console,
    run_python,
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "docs"}
    printed = ""
    for fence in fences(path):
        assert fence.language in LANGUAGES, f"{fence.where}: blocks of language {fence.language!r} are not checked"
        if fence.is_of_client:
            continue
        if fence.language == "python":
            printed = run_python(fence, names)
        elif fence.language == "output":
            assert_same(fence, fence.text, printed)
        elif fence.language == "console":
            run_console(fence, tmp_path)
        elif fence.language == "json":
            json.loads(fence.text)
        elif fence.language == "toml":
            vault = tmp_path / f"toml-{fence.line}"
            vault.mkdir()
            (vault / ".cogvault.toml").write_text(fence.text, encoding="utf-8")
            resolve(vault, None, {})
        elif fence.language == "markdown":
            card = MarkdownCardParser().parse(fence.text.encode(), id="card.md", path="card.md")
            assert card.problems == (), fence.where
        elif fence.language == "sh":
            check_shell(fence)
        else:
            assert fence.language in SHOWN
