"""Where values come from, which one wins, and what a vault's own file may say."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogvault.config import Config, resolve
from cogvault.errors import ConfigError


def write(vault: Path, text: str) -> Path:
    path = vault / ".cogvault.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_argument_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    path = write(tmp_path, "window = 3\nhits_per_card = 3\nrrf_k = 3\n")
    environ = {"COGVAULT_WINDOW": "2", "COGVAULT_HITS_PER_CARD": "2"}
    resolved = resolve(tmp_path, Config(window=1), environ)
    assert (resolved.config.window, resolved.config.hits_per_card, resolved.config.rrf_k) == (1, 2, 3)
    assert resolved.config.candidates == 100
    assert resolved.origins["window"] == "argument"
    assert resolved.origins["hits_per_card"] == "environment COGVAULT_HITS_PER_CARD"
    assert resolved.origins["rrf_k"] == str(path)
    assert resolved.origins["candidates"] == "default"
    assert set(resolved.origins) == set(Config.model_fields)


def test_argument_equal_to_the_default_still_wins(tmp_path: Path) -> None:
    resolved = resolve(tmp_path, Config(model="auto"), {"COGVAULT_MODEL": "bundled"})
    assert resolved.config.model == "auto"


def test_no_vault_and_no_file_give_defaults(tmp_path: Path) -> None:
    assert resolve(None, None, {}).config == Config()
    assert resolve(tmp_path, None, {}).config == Config()


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("COGVAULT_MODEL", "bundled", "model", "bundled"),
        ("COGVAULT_TENANT", "~/notes", "tenant", "~/notes"),
        ("COGVAULT_RECURSIVE", "true", "recursive", True),
        ("COGVAULT_HALF_LIFE_DAYS", " 30 ", "half_life_days", 30.0),
        ("COGVAULT_HALF_LIFE_DAYS", "none", "half_life_days", None),
        ("COGVAULT_IGNORE", "drafts/, *.tmp.md", "ignore", ("drafts/", "*.tmp.md")),
        ("COGVAULT_IGNORE", '["a,b.md"]', "ignore", ("a,b.md",)),
        ("COGVAULT_IGNORE", "", "ignore", ()),
        ("COGVAULT_LAYER_WEIGHTS", "1,0,0", "layer_weights", (1.0, 0.0, 0.0)),
        ("COGVAULT_LOG", "off", "log", "off"),
        ("COGVAULT_RERANK_THREADS", "4", "rerank_threads", 4),
    ],
)
def test_every_kind_of_field_can_come_from_the_environment(variable: str, text: str, field: str, value: object) -> None:
    resolved = resolve(None, None, {variable: text})
    assert getattr(resolved.config, field) == value
    assert resolved.origins[field] == f"environment {variable}"


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("COGVAULT_TENANT", "", "COGVAULT_TENANT is empty"),
        ("COGVAULT_MODEL", " ", "COGVAULT_MODEL is empty"),
        ("COGVAULT_WINDOW", "wide", "COGVAULT_WINDOW = 'wide'"),
        ("COGVAULT_WINDOW", "none", "COGVAULT_WINDOW = 'none'"),
        ("COGVAULT_IGNORE", '["a', "COGVAULT_IGNORE is not a JSON list"),
        ("COGVAULT_IGNORE", "[" * 100_000, "COGVAULT_IGNORE is not a JSON list"),
        ("COGVAULT_MODLE", "x", "unknown key 'COGVAULT_MODLE' .did you mean 'COGVAULT_MODEL'"),
    ],
)
def test_bad_variable_is_named(variable: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(None, None, {variable: text})
    assert caught.value.key == variable


def test_variables_of_tools_around_the_library_are_left_alone() -> None:
    assert resolve(None, None, {"COGVAULT_BENCH_DATA": "x", "PATH": "y"}).config == Config()


def test_mistake_in_a_file_names_file_line_and_key(tmp_path: Path) -> None:
    path = write(tmp_path, "# recall\nwindow = 2\nhalf_live_days = 30\n")
    with pytest.raises(ConfigError, match="did you mean 'half_life_days'") as caught:
        resolve(tmp_path, None, {})
    assert (caught.value.path, caught.value.line, caught.value.key) == (str(path), 3, "half_live_days")


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    write(tmp_path, "window = 2\nmodel = \n")
    with pytest.raises(ConfigError, match="not valid TOML") as caught:
        resolve(tmp_path, None, {})
    assert caught.value.line == 2


@pytest.mark.parametrize("content", [b"model = '\xff'", b"a = " + b"[" * 50_000, b"# " + b"x" * (2 << 20)])
def test_hostile_file_is_an_error_and_nothing_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".cogvault.toml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        resolve(tmp_path, None, {})
    assert caught.value.path == str(tmp_path / ".cogvault.toml")


def test_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    (tmp_path / ".cogvault.toml").write_bytes(b"\xef\xbb\xbfwindow = 4\n")
    assert resolve(tmp_path, None, {}).config.window == 4


@pytest.mark.parametrize(
    "line",
    [
        'index_dir = "elsewhere"',
        'cache_dir = "elsewhere"',
        'log = "queries.jsonl"',
        'tenant = "other"',
        "threads = 64",
        'model = "/opt/models/e5"',
        'model = "~/models/e5"',
        'model = "../models/e5"',
        'model = "a/../../e5"',
        "model = 'C:\\models\\e5'",
        "model = '..\\models'",
        'model = "openai:embed@http://example.com/v1"',
        'model = "file:///opt/e5"',
        'rerank_model = "/opt/models/reranker"',
    ],
)
def test_vault_file_cannot_reach_outside_the_vault(tmp_path: Path, line: str) -> None:
    write(tmp_path, line)
    with pytest.raises(ConfigError, match="vault's own file") as caught:
        resolve(tmp_path, None, {})
    assert caught.value.key == line.split(" ")[0]
    assert caught.value.line == 1


def test_vault_file_may_choose_a_model_by_name(tmp_path: Path) -> None:
    write(tmp_path, 'model = "BAAI/bge-small-en-v1.5"')
    assert resolve(tmp_path, None, {}).config.model == "BAAI/bge-small-en-v1.5"


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights on Windows")
@pytest.mark.parametrize("target", ["../outside.toml", ".cogvault.toml", "missing.toml"])
def test_symlink_that_leaves_the_vault_or_leads_nowhere_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.toml").write_text("window = 9\n")
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / ".cogvault.toml").symlink_to(target)
    with pytest.raises(ConfigError) as caught:
        resolve(vault, None, {})
    assert "window" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_in_place_of_the_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".cogvault.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        resolve(tmp_path, None, {})


names = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() == text)


@given(st.lists(names, max_size=4))
def test_json_in_the_environment_carries_any_list(patterns: list[str]) -> None:
    resolved = resolve(None, None, {"COGVAULT_IGNORE": json.dumps(patterns)})
    assert resolved.config.ignore == tuple(patterns)


@given(st.dictionaries(st.sampled_from(sorted(Config.model_fields)), st.text(max_size=20), max_size=5))
def test_any_environment_gives_a_configuration_or_a_config_error(values: dict[str, str]) -> None:
    environ = {f"COGVAULT_{name.upper()}": text for name, text in values.items()}
    with contextlib.suppress(ConfigError):
        resolved = resolve(None, None, environ)
        assert all(resolved.origins[name] == f"environment COGVAULT_{name.upper()}" for name in values)
