"""Any model that FastEmbed runs: by name, or from a local folder (extra `fastembed`)."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cogvault.config import make_private
from cogvault.embedders.e5_session import runtime_errors
from cogvault.embedders.fastembed_folder import ModelFolder, find_model_folder
from cogvault.embedders.identity import sampled_hash
from cogvault.embedders.once import Once
from cogvault.embedders.prefixes import prefixes_for
from cogvault.embedders.vectors import normalize_rows
from cogvault.errors import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cogvault.types import FloatArray

E5_SMALL: Final = "intfloat/multilingual-e5-small"
_E5_SMALL_DIM: Final = 384
_KNOWN_RANGE: Final = {"multilingual-e5-small": (0.75, 0.95)}
#: Padded tokens of one batch: large ones gain no speed on a CPU and set the peak of memory.
_BATCH_TOKENS: Final = 4096
_CHARS_A_TOKEN: Final = 2
#: A network that did not answer is not asked again for so long: every search would wait for it.
_PAUSE_SECONDS: Final = 60.0


class FastEmbedEmbedder:
    """A FastEmbed model. It loads at first use, once for all threads; making one is free.

    Models of families that expect words before a text (e5: "query: ", "passage: ") get them. Vectors
    are always normalized here, because FastEmbed's versions differ in that. A named model is looked for in the
    cache first; only when it is not there, and the network answers, it is downloaded.

    Args:
        model: A name FastEmbed knows or `intfloat/multilingual-e5-small`, the part before the slash being
            optional; or the path of a folder.
        path: A local folder of the model's files (ONNX file, tokenizer.json, tokenizer_config.json).
        cache_dir: Downloads go to `fastembed/` in it.
        threads: CPU threads; None leaves it to onnxruntime.
        clock: Seconds that never go back.
    """

    __slots__ = (
        *("_cache_dir", "_clock", "_counter", "_folder", "_loaded", "_offline_until", "_path", "_prefixes"),
        *("_threads", "name"),
    )

    def __init__(
        self,
        model: str,
        *,
        path: Path | None = None,
        cache_dir: Path,
        threads: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = model
        self._clock = clock
        self._offline_until = float("-inf")
        self._path = path
        self._cache_dir = cache_dir / "fastembed"
        self._threads = threads
        self._prefixes = prefixes_for(path.name if path else model)
        self._folder: Once[ModelFolder | None] = Once(lambda: find_model_folder(path) if path else None)
        self._loaded: Once[Any] = Once(self._load)
        self._counter: Once[Any] = Once(self._load_counter)

    @property
    def floor(self) -> float | None:
        """Cosine of unrelated texts, None when not known for this model."""
        return _KNOWN_RANGE.get(_last_part(self.name), (None, None))[0]

    @property
    def ceiling(self) -> float | None:
        """Cosine of a text and its best query, None when not known for this model."""
        return _KNOWN_RANGE.get(_last_part(self.name), (None, None))[1]

    @property
    def fingerprint(self) -> str:
        """Text naming the model, a local folder's weights, prefixes and FastEmbed's version.

        Raises:
            ModelUnavailable: If FastEmbed is not installed or the folder holds no model.
        """
        folder = self._folder()
        identity = _last_part(self.name) if folder is None else sampled_hash(folder.model_file)
        prefixes = "/".join(self._prefixes)
        return f"fastembed-{_fastembed_version()}:{identity}:prefixes={prefixes!r}:normalized"

    @property
    def dim(self) -> int:
        """Width of the vectors.

        Raises:
            ModelUnavailable: If FastEmbed is not installed or does not know the model.
        """
        folder = self._folder()
        if folder is not None:
            return folder.dim
        if _last_part(self.name) == _last_part(E5_SMALL):
            return _E5_SMALL_DIM
        return int(self._describe(_import_fastembed())["dim"])

    @property
    def max_tokens(self) -> int:
        """The model's window in tokens, prefix and special tokens included. Loads the model."""
        truncation = self._loaded().model.tokenizer.truncation
        return int(truncation["max_length"])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in tokens, without prefix and special tokens, not truncated. Loads the model."""
        encodings = self._counter().encode_batch(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts, each cut to the window.

        Args:
            texts: n texts; a blank one gives a row of zeros.

        Returns:
            Array of shape (n, dim), float32, rows L2-normalized.

        Raises:
            ModelUnavailable: If the model is not here and cannot be had.
            ModelError: If it is damaged.
        """
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        written = [index for index, text in enumerate(texts) if text.strip()]
        for batch in _batches(texts, written, self.max_tokens if written else 1):
            part = [texts[index] for index in batch]
            rows[batch] = self._run("passage_embed", [self._prefixes.document + text for text in part])
        return rows

    def embed_query(self, text: str) -> FloatArray:
        """Embed a query, cut to the window: shape (dim,), float32, L2-normalized; zeros when blank.

        Raises:
            ModelUnavailable: If the model is not here and cannot be had.
            ModelError: If it is damaged.
        """
        if not text.strip():
            return np.zeros(self.dim, dtype=np.float32)
        vector: FloatArray = self._run("query_embed", [self._prefixes.query + text])[0]
        return vector

    def _run(self, method: str, texts: list[str]) -> FloatArray:
        import onnxruntime

        embed = getattr(self._loaded(), method)
        try:
            vectors: Iterable[Any] = list(embed(texts, batch_size=len(texts)))
        except runtime_errors(onnxruntime) as error:
            raise self._damaged(error) from error
        rows = np.asarray(vectors, dtype=np.float32)
        if rows.shape != (len(texts), self.dim) or not np.isfinite(rows).all():
            raise self._damaged(ValueError(f"gave vectors of shape {rows.shape}, or ones that are not numbers"))
        return normalize_rows(rows)

    def _can_download(self) -> bool:
        from cogvault.embedders.network import can_download

        if self._clock() < self._offline_until:
            return False
        if can_download():
            return True
        self._offline_until = self._clock() + _PAUSE_SECONDS
        return False

    def _load(self) -> Any:
        fastembed = _import_fastembed()
        folder = self._folder()
        if folder is not None:
            return self._open(fastembed, folder.register(fastembed), specific_model_path=str(folder.path))
        name = str(self._describe(fastembed)["model"])
        try:
            return self._open(fastembed, name, local_files_only=True)
        except ModelUnavailable:
            if not self._can_download():
                raise
        except ModelError:
            if not self._can_download():
                raise
            # Damaged in the cache: fetched again, once, and nothing else is touched.
            shutil.rmtree(self._cached_folder(fastembed), ignore_errors=True)
        return self._open(fastembed, name)

    def _open(self, fastembed: Any, name: str, **options: Any) -> Any:
        from cogvault.embedders.network import quiet_loguru

        try:
            make_private(self._cache_dir)
            with quiet_loguru("fastembed"):
                loaded = fastembed.TextEmbedding(
                    name,
                    cache_dir=str(self._cache_dir),
                    threads=self._threads,
                    providers=["CPUExecutionProvider"],
                    enable_cpu_mem_arena=False,
                    **options,
                )
        except Exception as error:  # tokenizers raises nothing narrower, and onnxruntime has no base class
            # FastEmbed's only error for "not there", a ValueError.
            if "from any source" not in str(error):
                raise self._damaged(error) from error
            msg = f"the model {self.name!r} is not on this machine and cannot be downloaded"
            raise ModelUnavailable(
                msg, path=self._cache_dir, hint="connect once, give a local model folder, or use the bundled model"
            ) from error
        _pad_to_longest(loaded.model.tokenizer)
        return loaded

    def _load_counter(self) -> Any:
        import tokenizers

        counter = tokenizers.Tokenizer.from_str(self._loaded().model.tokenizer.to_str())
        counter.no_truncation()
        counter.no_padding()
        return counter

    def _describe(self, fastembed: Any) -> dict[str, Any]:
        """FastEmbed's description of a named model, e5-small being taught to it first."""
        if _last_part(self.name) == _last_part(E5_SMALL):
            _register_e5_small(fastembed)
        models: list[dict[str, Any]] = fastembed.TextEmbedding.list_supported_models()
        for model in models:
            if self.name.lower() in (model["model"].lower(), _last_part(model["model"])):
                return model
        msg = f"FastEmbed knows no model {self.name!r}"
        raise ModelUnavailable(msg, hint="`TextEmbedding.list_supported_models()` lists them; or give a folder")

    def _cached_folder(self, fastembed: Any) -> Path:
        source = self._describe(fastembed)["sources"].get("hf") or self.name
        return self._cache_dir / f"models--{source.replace('/', '--')}"

    def _damaged(self, error: Exception) -> ModelError:
        folder = self._folder()
        path = self._cached_folder(_import_fastembed()) if folder is None else folder.model_file
        return ModelError(
            f"the model {self.name!r} does not work: {error}", path=path, hint="delete it and get it again"
        )


def _last_part(name: str) -> str:
    return name.rsplit("/", 1)[-1].lower()


def _batches(texts: Sequence[str], indexes: list[int], max_tokens: int) -> Iterator[list[int]]:
    """Indexes in batches of texts of like length, bounded by padded tokens."""
    batch: list[int] = []
    for index in sorted(indexes, key=lambda index: len(texts[index]), reverse=True):
        batch.append(index)
        longest = min(max_tokens, len(texts[batch[0]]) // _CHARS_A_TOKEN + 8)
        if (len(batch) + 1) * longest > _BATCH_TOKENS:
            yield batch
            batch = []
    if batch:
        yield batch


def _register_e5_small(fastembed: Any) -> None:
    from fastembed.common.model_description import ModelSource, PoolingType

    known = {model["model"].lower() for model in fastembed.TextEmbedding.list_supported_models()}
    if E5_SMALL.lower() not in known:
        fastembed.TextEmbedding.add_custom_model(
            model=E5_SMALL,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=E5_SMALL),
            dim=_E5_SMALL_DIM,
            model_file="onnx/model.onnx",
        )


def _pad_to_longest(tokenizer: Any) -> None:
    """Some tokenizer files pad every text to a fixed length, which wastes most of the time on short ones."""
    padding = tokenizer.padding
    if padding and padding.get("length") is not None:
        tokenizer.enable_padding(**{**padding, "length": None})


def _import_fastembed() -> Any:
    try:
        import fastembed
    except ImportError as error:
        msg = "FastEmbed is not installed"
        raise ModelUnavailable(msg, hint="pip install 'cogvault[fastembed]'") from error
    return fastembed


def _fastembed_version() -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version("fastembed")
    except importlib.metadata.PackageNotFoundError as error:
        msg = "FastEmbed is not installed"
        raise ModelUnavailable(msg, hint="pip install 'cogvault[fastembed]'") from error
