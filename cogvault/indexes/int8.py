"""Unit vectors as int8: the one quantisation that every index uses, so that their cosines agree bit for bit. Pure."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cogvault.types import FloatArray

Int8Array: TypeAlias = npt.NDArray[np.int8]

_Numbers: TypeAlias = npt.NDArray[np.integer] | npt.NDArray[np.float64]

SCALE = 127


def quantise(vectors: FloatArray) -> Int8Array:
    """Unit vectors (…, dim) times 127, rounded."""
    whole = np.rint(vectors * np.float32(SCALE))
    return np.asarray(np.minimum(np.maximum(whole, -SCALE), SCALE), np.int8)


def squares(rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Squared length of each row of whole numbers: (n, dim) to (n,). Exact."""
    wide = rows.astype(np.float64)
    return np.asarray(np.einsum("ij,ij->i", wide, wide), np.int64)


def cosines(dots: _Numbers, square: int, row_squares: _Numbers) -> FloatArray:
    """Cosine from dot products and squared lengths; NaN where a row has no length. Shape of ``dots``."""
    products = square * row_squares.astype(np.float64)
    return np.where(products > 0, dots / np.sqrt(np.maximum(products, 1)), np.nan).astype(np.float32)
