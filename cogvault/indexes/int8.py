"""Unit vectors as int8: the one quantisation that every index uses, so that their cosines agree bit for bit. Pure."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cogvault.types import FloatArray

Int8Array: TypeAlias = npt.NDArray[np.int8]

SCALE = 127


def quantise(vectors: FloatArray) -> Int8Array:
    """Unit vectors (…, dim) times 127, rounded."""
    return np.asarray(np.clip(np.rint(vectors * np.float32(SCALE)), -SCALE, SCALE), np.int8)


def squares(rows: Int8Array) -> npt.NDArray[np.int64]:
    """Squared length of each row: (n, dim) to (n,)."""
    wide = rows.astype(np.float32)
    # Exact: whole numbers, and a sum of up to 1,000 squares of int8 stays below 2**24.
    return np.asarray(np.einsum("ij,ij->i", wide, wide), np.int64)


def cosines(dots: npt.NDArray[np.float64], square: int, row_squares: npt.NDArray[np.float64]) -> FloatArray:
    """Cosine from dot products and squared lengths; NaN where either side has no length. Shape of ``dots``."""
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = dots / np.sqrt(square * row_squares)
    cosine[row_squares == 0] = np.nan
    return cosine.astype(np.float32)
