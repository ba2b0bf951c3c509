"""multilingual-e5-small on onnxruntime: many texts, each on a thread of its own."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cogvault.config import available_cpus
from cogvault.embedders.e5_graph import GRAPH_FILE, INPUT, OUTPUT
from cogvault.errors import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cogvault.embedders.e5_tokenizer import E5Tokenizer
    from cogvault.types import FloatArray

_TEXTS_IN_FLIGHT: Final = 512
_NICE: Final = 15


class E5Session:
    """A loaded graph with its tokenizer. Safe for use from many threads.

    A text is run alone, so its vector does not depend on what is embedded with it, and memory stays at
    one window's activations a thread (about 10 MB).

    Args:
        folder: The folder that `write_graph` filled.
        tokenizer: The model's tokenizer.
        threads: Texts embedded at the same time; None = the CPUs this process may use.
        max_tokens: The model's window, prefix and special tokens included.

    Raises:
        ModelUnavailable: If onnxruntime is not installed.
        ModelError: If onnxruntime refuses the graph.
    """

    __slots__ = ("_errors", "_folder", "_max_tokens", "_run", "_threads", "_tokenizer")

    def __init__(self, folder: Path, tokenizer: E5Tokenizer, *, threads: int | None, max_tokens: int) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            msg = "the bundled model needs onnxruntime"
            raise ModelUnavailable(msg, hint="pip install 'cogvault[bundled]'") from error
        self._errors = runtime_errors(onnxruntime)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # A run needs a few MB for a moment, in blocks of 0.1 to 12. Taken from the C library's heaps, where what is
        # kept of questions comes between, they left holes that grew for an hour; an arena keeps its size.
        options.enable_cpu_mem_arena = True
        # The graph is written as it is to run.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(
                str(folder / GRAPH_FILE), options, providers=["CPUExecutionProvider"]
            )
        except self._errors as error:
            msg = f"onnxruntime {onnxruntime.__version__} does not load the bundled model: {error}"
            raise ModelError(msg, path=folder / GRAPH_FILE, hint="delete the folder, or upgrade onnxruntime") from error
        self._run: Callable[..., list[Any]] = session.run
        self._folder = folder
        self._tokenizer = tokenizer
        self._threads = threads or available_cpus()
        self._max_tokens = max_tokens

    def embed(self, prefix: str, texts: Sequence[str], *, remember: bool = True) -> FloatArray:
        """Embed non-blank texts, cut to the window.

        Args:
            prefix: set before each.
            texts: n texts.
            remember: as for `E5Tokenizer.encode`.

        Returns:
            Array of shape (n, dim), float32, rows L2-normalized.

        Raises:
            ModelError: If onnxruntime fails.
        """
        head = [self._tokenizer.bos, *self._tokenizer.encode(prefix, self._max_tokens)]
        if len(texts) == 1 or self._threads == 1:
            return np.stack([self._embed_one(head, text, remember) for text in texts])
        from concurrent.futures import ThreadPoolExecutor

        vectors: list[FloatArray] = [np.empty(0, dtype=np.float32)] * len(texts)
        # Longest first: the threads end together.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]), reverse=True)
        workers = min(self._threads, len(texts))
        pool = ThreadPoolExecutor(workers, thread_name_prefix="cogvault-embed", initializer=_give_way)
        try:
            for start in range(0, len(order), _TEXTS_IN_FLIGHT):
                part = order[start : start + _TEXTS_IN_FLIGHT]
                results = pool.map(lambda index: self._embed_one(head, texts[index], remember), part)
                for index, vector in zip(part, results, strict=True):
                    vectors[index] = vector
        finally:
            pool.shutdown(wait=True, cancel_futures=True)  # so that Ctrl-C waits for running texts only
        return np.stack(vectors)

    def _embed_one(self, head: list[int], text: str, remember: bool) -> FloatArray:
        room = self._max_tokens - len(head) - 1
        encoded = self._tokenizer.encode(text, room, remember=remember)
        ids = np.array([[*head, *encoded, self._tokenizer.eos]], dtype=np.int64)
        try:
            (vectors,) = self._run([OUTPUT], {INPUT: ids})
        except self._errors as error:
            msg = f"onnxruntime failed on the bundled model: {error}"
            raise ModelError(msg, path=self._folder / GRAPH_FILE) from error
        vector: FloatArray = vectors[0]
        if not np.isfinite(vector).all():
            msg = "the bundled model gave a vector that is not a number"
            raise ModelError(msg, path=self._folder, hint="delete the folder: it is made anew")
        return vector


def _give_way() -> None:
    """Let everything else go first, in this process and others: many texts take minutes, in which people search."""
    if sys.platform == "linux":  # elsewhere a single thread has no priority that everybody may lower
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def runtime_errors(onnxruntime: Any) -> tuple[type[Exception], ...]:
    """The errors onnxruntime raises; they share no base class but Exception."""
    state = onnxruntime.capi.onnxruntime_pybind11_state
    names = ("EPFail", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelLoaded", "NoModel")
    more = ("NoSuchFile", "NotImplemented", "RuntimeException")
    found = (getattr(state, name, None) for name in (*names, *more))
    return (RuntimeError, ValueError, *(error for error in found if isinstance(error, type)))


def runtime_version() -> str:
    """Major and minor version of the installed onnxruntime, "none" without it.

    Patch releases do not change kernels, and a vault should not be embedded anew for each.
    """
    import importlib.metadata

    try:
        version = importlib.metadata.version("onnxruntime")
    except importlib.metadata.PackageNotFoundError:
        return "none"
    return ".".join(version.split(".")[:2])
