"""The Makefile: its targets, and a help line for each."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = {"help", "setup", "demo", "test", "lint", "bench", "crash", "soak"}


def test_every_target_has_a_help_line() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = set(re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)[0].split())
    helped = set(re.findall(r"^([a-z-]+):[^\n]*## \S", text, re.MULTILINE))
    assert phony == helped
    assert phony >= TARGETS


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_help_is_the_default() -> None:
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^make ([a-z]+) ", shown, re.MULTILINE)) >= TARGETS


def test_continuous_integration_runs_lint_and_test() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert {"make lint", "make test"} <= set(script.read_text(encoding="utf-8").splitlines())
