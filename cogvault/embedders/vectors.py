"""What embedders do to vectors that a model gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cogvault.types import FloatArray


def normalize_rows(rows: FloatArray) -> FloatArray:
    """Rows of unit length; a row of zeros stays one.

    Args:
        rows: Shape (n, dim), float32.

    Returns:
        A new array of the same shape and type.
    """
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0.0] = 1.0
    unit: FloatArray = (rows / norms).astype(np.float32, copy=False)
    return unit
