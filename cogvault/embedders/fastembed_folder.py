"""A local folder of model files, as FastEmbed takes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cogvault.embedders.identity import sampled_hash
from cogvault.errors import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from pathlib import Path

_USUAL_FILES: Final = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")
_NEEDED: Final = ("tokenizer.json", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What is known about a model before it is loaded.

    Attributes:
        path: The folder.
        model_file: The ONNX file in it.
        dim: Width of the vectors, from `config.json`.
        pooling: How token vectors become one: "MEAN" or "CLS".
    """

    path: Path
    model_file: Path
    dim: int
    pooling: str

    def register(self, fastembed: Any) -> str:
        """Teach FastEmbed this folder; the same folder with the same weights is taught once.

        Returns:
            The name under which FastEmbed knows it.
        """
        from fastembed.common.model_description import ModelSource, PoolingType

        relative = self.model_file.relative_to(self.path).as_posix()
        name = f"cogvault-local/{sampled_hash(self.model_file)}-{self.pooling.lower()}-{relative.replace('/', '-')}"
        known = {model["model"].lower() for model in fastembed.TextEmbedding.list_supported_models()}
        if name.lower() not in known:
            fastembed.TextEmbedding.add_custom_model(
                model=name,
                pooling=PoolingType[self.pooling],
                normalization=True,
                sources=ModelSource(url="file:///"),  # never used: files are given
                dim=self.dim,
                model_file=relative,
            )
        return name


def find_model_file(path: Path) -> Path:
    """The ONNX file of a folder: one with a usual name, else the first.

    Raises:
        ModelUnavailable: If there is none.
    """
    model_file = next((path / name for name in _USUAL_FILES if (path / name).is_file()), None)
    model_file = model_file or next(iter(sorted(path.rglob("*.onnx"))), None)
    if model_file is None:
        msg = "the folder holds no ONNX model"
        raise ModelUnavailable(msg, path=path, hint=f"expected one of {', '.join(_USUAL_FILES)}")
    return model_file


def find_model_folder(path: Path) -> ModelFolder:
    """Look a folder over.

    Raises:
        ModelUnavailable: If it holds no model.
        ModelError: If a file of it cannot be understood.
    """
    model_file = find_model_file(path)
    for name in _NEEDED:
        if not (path / name).is_file():
            msg = f"the model folder lacks {name}"
            raise ModelUnavailable(msg, path=path / name, hint="copy the model's tokenizer files into the folder")
    config = _read_json(path / "config.json")
    dim = config.get("hidden_size") or config.get("dim") or config.get("d_model")
    if not isinstance(dim, int) or dim < 1:
        msg = "the model's config.json names no hidden_size"
        raise ModelError(msg, path=path / "config.json")
    pooling_file = path / "1_Pooling" / "config.json"
    pooling = _read_json(pooling_file) if pooling_file.is_file() else {}
    return ModelFolder(path, model_file, dim, "CLS" if pooling.get("pooling_mode_cls_token") else "MEAN")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        msg = f"the model folder lacks {path.name}"
        raise ModelUnavailable(msg, path=path, hint="copy the model's files into the folder") from error
    except (OSError, ValueError) as error:
        msg = f"the model's {path.name} cannot be read: {error}"
        raise ModelError(msg, path=path) from error
    if not isinstance(content, dict):
        msg = f"the model's {path.name} is not a JSON object"
        raise ModelError(msg, path=path)
    return content
