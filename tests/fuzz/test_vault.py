"""A vault of hostile files: each is named where something is wrong with it, and none keeps others from being found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cogvault import Config, Vault
from cogvault.config import CONFIG_FILE
from cogvault.errors import ConfigError
from cogvault.types import Status
from tests.fuzz.shapes import SHAPES

_MEGABYTE = 1 << 20
# Of a file of 20 MB the first part is indexed, here a megabyte; memory is that of the process at its highest.
_MOST_MEGABYTES = 400
_GIANT = """
import json, sys
from pathlib import Path
from cogvault import Config, Vault
folder, index_dir = map(Path, sys.argv[1:])
config = Config(model="none", index_dir=index_dir, cache_dir=index_dir / "c", threads=1, max_card_bytes=1 << 20)
with Vault(folder, config) as vault:
    report = vault.sync()
    found = [hit.id for hit in vault.search("numbat beside giants")]
    window = vault.read("giant.md", (1, 1)).total_lines
# Not ru_maxrss: that is never below what the process that started this one had.
peak = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([[p.code for p in report.problems], found[:1], window, peak[0] // 1024]))
"""


def _config(base: Path) -> Config:
    return Config(model="none", index_dir=base / "index", cache_dir=base / "cache", refresh_seconds=0, threads=1)


def test_hostile_files_are_named_and_keep_nobody_out(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nnumbat in a log\n")
    for name, shape in SHAPES.items():
        (folder / f"x-{name}.md").write_bytes(shape(700))  # "nul.md" is a device to Windows
    (folder / ".cogvaultignore").write_text("*a" * 30 + "*b\n**/a/**/a/**/a/**/b\n[z-a]\n[[:alpha:]\n")
    with Vault(folder, _config(tmp_path)) as vault:
        report = vault.sync()
        assert report.failed == ()
        assert vault.search("numbat")[0].id == "good.md"
        assert len(vault.cards()) == len(SHAPES) + 1
        codes = {problem.path: problem.code for problem in vault.status().problems}
    for path, code in (
        ("x-alias-bomb.md", "frontmatter-alias-bomb"),
        ("x-yaml-maps.md", "frontmatter-too-deep"),
        ("x-nul.md", "binary"),
        ("x-utf-16-odd.md", "encoding-invalid"),
        ("x-surrogates.md", "encoding-invalid"),
        ("x-unterminated.md", "frontmatter-unterminated"),
        ("x-latin-1.md", "encoding-invalid"),
    ):
        assert codes[path] == code
    assert [problem.code for problem in report.problems if problem.path == ".cogvaultignore"] == ["ignore-pattern"]
    json.dumps(report.to_dict()).encode()


@pytest.mark.skipif(sys.platform == "win32", reason="the resource module, by which memory is measured, is not there")
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process alone is read from /proc")
def test_a_note_of_20_megabytes_in_one_line_is_cut_said_and_takes_bounded_memory(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    line = b"".join(b"word%d is said. " % number for number in range(20 * _MEGABYTE // 18))
    (folder / "giant.md").write_bytes(line)
    (folder / "good.md").write_text("# Good\n\nnumbat beside giants\n")
    command = [sys.executable, "-c", _GIANT, str(folder), str(tmp_path / "index")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    codes, found, lines, megabytes = json.loads(ran.stdout)
    assert (codes, found, lines) == (["oversize"], ["good.md"], 1)
    assert megabytes < _MOST_MEGABYTES


def test_queries_of_any_shape_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nnumbat in a log\n")
    with Vault(folder, _config(tmp_path)) as vault:
        vault.sync()
        for name, shape in SHAPES.items():
            hits = vault.search(shape(300).decode("utf-8", "surrogateescape"), sync=False)
            assert hits.status in (Status.OK, Status.EMPTY), name
        words = " ".join(f"word{number}" for number in range(5_000))
        assert vault.search(f"numbat {words}", sync=False).status in (Status.OK, Status.EMPTY)


@pytest.mark.parametrize("shape", ["toml-dotted", "toml-arrays", "toml-number", "nul", "utf-16"])
def test_a_settings_file_of_a_vault_cannot_hang_or_crash_it(tmp_path: Path, shape: str) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / CONFIG_FILE).write_bytes(SHAPES[shape](6_000))
    with pytest.raises(ConfigError, match=CONFIG_FILE):
        Vault(folder, _config(tmp_path))
