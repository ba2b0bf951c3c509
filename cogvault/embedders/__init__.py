"""Embedders: text in, unit vectors out.

Every class here satisfies `cogvault.protocols.Embedder`. Importing this package is cheap: a model and
the libraries that run it are imported by the first call that needs them.
"""

from __future__ import annotations

from cogvault.embedders.hashing import HashingEmbedder

__all__ = ["HashingEmbedder"]
