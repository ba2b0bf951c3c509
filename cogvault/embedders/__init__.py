"""Embedders: text in, unit vectors out.

Every class here satisfies `cogvault.protocols.Embedder`. Importing this package is cheap: a model and
the libraries that run it are imported by the first call that needs them.
"""

from __future__ import annotations

from cogvault.embedders.bundled import BundledEmbedder
from cogvault.embedders.cached import CachedEmbedder
from cogvault.embedders.estimate import estimate_tokens
from cogvault.embedders.hashing import HashingEmbedder

__all__ = ["BundledEmbedder", "CachedEmbedder", "HashingEmbedder", "estimate_tokens"]
