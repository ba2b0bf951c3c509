"""A cross-encoder, which reads query and passage together, through FastEmbed (extra ``fastembed``)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cogvault.config import make_private
from cogvault.embedders.fastembed_folder import find_model_file
from cogvault.errors import ModelError, ModelUnavailable
from cogvault.types import FloatArray

# FastEmbed does not list these. The name that people know, the repository of the ONNX file, and the file in it.
TAUGHT = {"BAAI/bge-reranker-v2-m3-int8": ("onnx-community/bge-reranker-v2-m3-ONNX", "onnx/model_int8.onnx")}
# A model that could not be loaded is not tried again for so long: every search would wait for the attempt.
PAUSE_SECONDS = 60.0


class CrossEncoder:
    """Scores passages against a query. Loads its model on first use, once for all threads.

    Args:
        model: a name that FastEmbed knows, one of ``TAUGHT``, or a folder with an ONNX file and the tokenizer's files.
        cache_dir: FastEmbed keeps what it downloads in ``fastembed/`` of it.
        threads: threads it may use, None = its own choice.
        clock: seconds that never go back.
    """

    def __init__(
        self, model: str, cache_dir: Path, threads: int | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = model
        self._cache_dir = cache_dir / "fastembed"
        self._threads = threads
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._failed: tuple[float, ModelError] | None = None
        self._used = clock()

    def release(self, idle_seconds: float) -> bool:
        """Let go of a model that was not used for so long; the next use loads it again. True when there was one."""
        with self._lock:
            is_idle = self._loaded is not None and self._clock() - self._used >= idle_seconds
            if is_idle:
                self._loaded = None
            return is_idle

    def score(self, query: str, passages: Sequence[str]) -> FloatArray:
        """(n,) float32: how well each passage answers the query, 0 to 1 (the sigmoid of the model's logit).

        Raises:
            ModelUnavailable: the model is not here and cannot be had.
            ModelError: it is damaged, or gave no finite numbers.
        """
        if not passages:
            return np.empty(0, np.float32)
        model = self._model()
        try:
            logits = np.array(list(model.rerank(query, list(passages))), dtype=np.float64)
        except Exception as error:  # tokenizers raises bare Exception, onnxruntime classes right below it
            raise self._damaged(error) from error
        if logits.shape != (len(passages),) or not np.isfinite(logits).all():
            raise self._damaged(f"it gave {logits.shape} numbers for {len(passages)} passages, or not finite ones")
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -50, 50))), dtype=np.float32)

    def _model(self) -> Any:
        with self._lock:
            self._used = self._clock()
            if self._loaded is None:
                if self._failed is not None and self._clock() - self._failed[0] < PAUSE_SECONDS:
                    raise self._failed[1]
                try:
                    self._loaded = self._load()
                except ModelError as error:
                    self._failed = self._clock(), error
                    raise
            return self._loaded

    def _load(self) -> Any:
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ImportError as error:
            raise ModelUnavailable("FastEmbed is not installed", hint="pip install 'cogvault[fastembed]'") from error
        if (folder := self._folder()) is not None:
            file = find_model_file(folder).relative_to(folder).as_posix()
            name = f"cogvault-local/{folder.resolve().as_posix()}/{file}"
            _teach(TextCrossEncoder, name, file, url="file:///")  # never used: the files are given
            return self._open(TextCrossEncoder, name, specific_model_path=str(folder))
        if self.name in TAUGHT:
            source, file = TAUGHT[self.name]
            _teach(TextCrossEncoder, self.name, file, hf=source)
        if self.name.lower() not in _known(TextCrossEncoder):
            hint = "`TextCrossEncoder.list_supported_models()` lists them; or name a folder that exists"
            raise ModelUnavailable(f"FastEmbed knows no reranker {self.name!r}", hint=hint)
        try:
            return self._open(TextCrossEncoder, self.name, local_files_only=True)
        except ModelUnavailable:
            from cogvault.embedders.network import can_download

            if not can_download():
                raise
        return self._open(TextCrossEncoder, self.name)

    def _open(self, encoder: Any, name: str, **options: Any) -> Any:
        from cogvault.embedders.network import quiet_loguru

        try:
            make_private(self._cache_dir)
            with quiet_loguru("fastembed"):
                return encoder(
                    name,
                    cache_dir=str(self._cache_dir),
                    threads=self._threads,
                    providers=["CPUExecutionProvider"],
                    **options,
                )
        except Exception as error:  # as in score; FastEmbed's own error for "not there" is a ValueError
            if "from any source" in str(error):
                message = f"the reranker {self.name!r} is not on this machine and cannot be downloaded"
                hint = "connect once, or give a local model folder"
                raise ModelUnavailable(message, path=self._cache_dir, hint=hint) from error
            raise self._damaged(error) from error

    def _folder(self) -> Path | None:
        folder = Path(self.name).expanduser()
        return folder if folder.is_dir() else None

    def _damaged(self, why: object) -> ModelError:
        path = self._folder() or self._cache_dir
        return ModelError(f"the reranker does not work: {why}", path=path, hint="delete it and get it again")


def _known(encoder: Any) -> set[str]:
    return {model["model"].lower() for model in encoder.list_supported_models()}


def _teach(encoder: Any, name: str, file: str, **source: Any) -> None:
    """Tell FastEmbed of a model once a process."""
    from fastembed.common.model_description import ModelSource

    if name.lower() not in _known(encoder):
        encoder.add_custom_model(name, sources=ModelSource(**source), model_file=file)
