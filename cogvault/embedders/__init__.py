"""Embedders: text in, unit vectors out.

Every class here satisfies `cogvault.protocols.Embedder`. Importing this package is cheap: each class is
imported when it is asked for, and a model with the libraries that run it by the first call that needs them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cogvault.embedders.bundled import BundledEmbedder
    from cogvault.embedders.cached import CachedEmbedder
    from cogvault.embedders.estimate import estimate_tokens
    from cogvault.embedders.fastembed import FastEmbedEmbedder
    from cogvault.embedders.hashing import HashingEmbedder
    from cogvault.embedders.http import OpenAICompatibleEmbedder

__all__ = [
    "BundledEmbedder",
    "CachedEmbedder",
    "FastEmbedEmbedder",
    "HashingEmbedder",
    "OpenAICompatibleEmbedder",
    "estimate_tokens",
]

_MODULES: Final = {
    "BundledEmbedder": "bundled",
    "CachedEmbedder": "cached",
    "FastEmbedEmbedder": "fastembed",
    "HashingEmbedder": "hashing",
    "OpenAICompatibleEmbedder": "http",
    "estimate_tokens": "estimate",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
