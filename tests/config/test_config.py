"""Settings: values, bounds, and messages that lead to the mistake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from cogvault.config import MACHINE_FIELDS, Config, available_cpus
from cogvault.errors import ConfigError


def test_defaults_are_those_of_the_specification() -> None:
    config = Config()
    assert config.model == "auto"
    assert config.thresholds == (0.45, 0.35, 0.28)
    assert config.evergreen_types == ("feedback", "reference")
    assert config.half_life_days is None
    assert config.max_card_bytes == 4 * 1024 * 1024


def test_every_field_says_what_it_means() -> None:
    silent = [name for name, field in Config.model_fields.items() if not field.description]
    assert silent == []


def test_machine_fields_exist() -> None:
    assert set(Config.model_fields) >= MACHINE_FIELDS


def test_configuration_is_immutable() -> None:
    config = Config()
    with pytest.raises(ValidationError, match="frozen"):
        config.window = 3


def test_unknown_key_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'half_live_days'.*did you mean 'half_life_days'") as caught:
        Config(**{"half_live_days": 30})
    assert caught.value.key == "half_live_days"


def test_key_like_nothing_points_at_the_list() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'zzz' \(see docs/reference/config.md"):
        Config(**{"zzz": 1})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("half_life_days", 0),
        ("half_life_days", float("nan")),
        ("decay_floor", 1.5),
        ("mmr_lambda", -0.1),
        ("fusion", "sum"),
        ("rankers", ()),
        ("rankers", ("keyword", "keyword")),
        ("layer_weights", (0, 0, 0)),
        ("layer_weights", (1, 1)),
        ("thresholds", (0.2, 0.4)),
        ("thresholds", ()),
        ("max_card_bytes", 0),
        ("threads", 0),
        ("model", ""),
        ("tenant", ""),
        ("candidates", "many"),
    ],
)
def test_value_out_of_range_is_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{key} = ") as caught:
        Config(**{key: value})
    assert caught.value.key == key


def test_folders_are_absolute_and_know_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    config = Config(index_dir=Path("~/indexes"), cache_dir=Path("cache"), log=Path("~/queries.jsonl"))
    assert config.index_dir == tmp_path / "indexes"
    assert config.cache_dir == tmp_path / "cache"
    assert config.log == tmp_path / "queries.jsonl"


def test_threads_default_to_the_usable_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 4, 5}, raising=False)
    assert Config().threads == 3


def test_threads_fall_back_to_the_cpu_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cpus() == 1
