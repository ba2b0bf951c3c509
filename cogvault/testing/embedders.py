"""The contract of `cogvault.protocols.Embedder`, as tests to inherit.

class TestMyEmbedder(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return MyEmbedder()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from cogvault.protocols import Embedder

_TEXTS: Final = (
    "The deployment failed because the database password had expired.",
    "The database password had expired, so the deployment failed again.",
    "Penguins huddle together through the long Antarctic winter.",
    "We meet on Tuesdays at ten.",
    "Мы переехали в новый офис у реки.",
    "设备清单已更新, 请在周五之前检查。",
    "x = compute_total(rows)  # TODO: rounding",
)
_QUERY: Final = "why did the deployment fail? database password"
#: Batching and threads may change rounding, not more.
_SAME_COSINE: Final = 0.999


class EmbedderContract:
    """Checks of any embedder. Override `make_embedder`; it may return one shared object."""

    def make_embedder(self) -> Embedder:
        """The embedder under test; called once or more in each test."""
        raise NotImplementedError

    def test_documents_are_rows_of_unit_length(self) -> None:
        embedder = self.make_embedder()
        rows = embedder.embed_documents(_TEXTS)
        assert rows.shape == (len(_TEXTS), embedder.dim)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)

    def test_a_query_is_a_vector_of_unit_length(self) -> None:
        embedder = self.make_embedder()
        vector = embedder.embed_query(_QUERY)
        assert vector.shape == (embedder.dim,)
        assert vector.dtype == np.float32
        assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3

    def test_no_documents_are_no_rows(self) -> None:
        embedder = self.make_embedder()
        assert embedder.embed_documents([]).shape == (0, embedder.dim)

    def test_blank_texts_are_rows_of_zeros(self) -> None:
        embedder = self.make_embedder()
        rows = embedder.embed_documents(["", _TEXTS[0], " \n\t "])
        assert not rows[0].any()
        assert rows[1].any()
        assert not rows[2].any()
        assert not embedder.embed_query("").any()
        assert not embedder.embed_query("  \n").any()

    def test_the_same_text_gives_the_same_vector(self) -> None:
        embedder = self.make_embedder()
        first, second = embedder.embed_documents(_TEXTS), embedder.embed_documents(_TEXTS)
        np.testing.assert_allclose(first, second, atol=1e-5)
        np.testing.assert_allclose(embedder.embed_query(_QUERY), embedder.embed_query(_QUERY), atol=1e-5)

    def test_a_vector_does_not_depend_on_its_neighbors(self) -> None:
        embedder = self.make_embedder()
        together = embedder.embed_documents(_TEXTS)
        backwards = embedder.embed_documents(_TEXTS[::-1])[::-1]
        alone = np.concatenate([embedder.embed_documents([text]) for text in _TEXTS])
        assert float((together * backwards).sum(axis=1).min()) > _SAME_COSINE
        assert float((together * alone).sum(axis=1).min()) > _SAME_COSINE

    def test_equal_texts_in_one_call_have_equal_vectors(self) -> None:
        rows = self.make_embedder().embed_documents([_TEXTS[0], _TEXTS[2], _TEXTS[0]])
        assert float(rows[0] @ rows[2]) > _SAME_COSINE

    def test_similar_texts_are_nearer_than_unrelated_ones(self) -> None:
        embedder = self.make_embedder()
        rows = embedder.embed_documents(_TEXTS[:3])
        assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.02
        to_query = rows @ embedder.embed_query(_QUERY)
        assert to_query[0] > to_query[2] + 0.02

    def test_vectors_of_different_texts_differ(self) -> None:
        rows = self.make_embedder().embed_documents(_TEXTS)
        cosines = rows @ rows.T
        np.fill_diagonal(cosines, 0.0)
        assert float(cosines.max()) < _SAME_COSINE

    def test_odd_texts_are_embedded(self) -> None:
        rows = self.make_embedder().embed_documents(["?!", "a", "🙂", "nul\0byte", "zero\u200bwidth", "<s> </s> <pad>"])
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)

    def test_a_text_longer_than_the_window_is_embedded(self) -> None:
        embedder = self.make_embedder()
        long = "The harbor master keeps a list of ships. " * embedder.max_tokens
        rows = embedder.embed_documents([long, "The harbor master keeps a list of ships."])
        assert np.isfinite(rows).all()
        assert rows[0] @ rows[1] > rows[0] @ embedder.embed_documents([_TEXTS[2]])[0]
        assert abs(float(np.linalg.norm(embedder.embed_query(long))) - 1.0) < 1e-3

    def test_tokens_are_counted_beyond_the_window(self) -> None:
        embedder = self.make_embedder()
        short, long, blank = embedder.count_tokens(["two words", "two words " * embedder.max_tokens, ""])
        assert 0 < short < 20
        assert long > embedder.max_tokens
        assert blank == 0
        assert embedder.count_tokens([]) == []

    def test_threads_share_one_embedder(self) -> None:
        embedder = self.make_embedder()
        with ThreadPoolExecutor(4) as pool:
            documents = list(pool.map(lambda _: embedder.embed_documents(_TEXTS), range(4)))
            queries = list(pool.map(lambda _: embedder.embed_query(_QUERY), range(8)))
        for rows in documents:
            assert float((rows * documents[0]).sum(axis=1).min()) > _SAME_COSINE
        for vector in queries:
            assert float(vector @ queries[0]) > _SAME_COSINE

    def test_the_fingerprint_is_stable(self) -> None:
        embedder = self.make_embedder()
        before = embedder.fingerprint
        embedder.embed_documents(_TEXTS[:1])
        assert before
        assert embedder.fingerprint == before
        assert self.make_embedder().fingerprint == before

    def test_what_scoring_reads_makes_sense(self) -> None:
        embedder = self.make_embedder()
        assert embedder.name
        assert embedder.dim > 0
        assert embedder.max_tokens > 0
        if embedder.floor is not None and embedder.ceiling is not None:
            assert -1.0 <= embedder.floor < embedder.ceiling <= 1.0
