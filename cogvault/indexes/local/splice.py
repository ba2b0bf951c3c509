"""How one array becomes the next: runs of it go, and new values come between the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cogvault.types import IntArray

_Value = TypeVar("_Value")
_Number = TypeVar("_Number", np.int64, np.int32, np.uint32, np.float32, np.bool_)


class Splice:
    """Cuts of an array, applied at the speed of memory to every array of that order.

    Args:
        cuts: (start, end, count), in order: ``count`` new values stand where ``start`` to ``end`` (without it) stood.
            Cuts do not overlap.
    """

    def __init__(self, cuts: Iterable[tuple[int, int, int]]) -> None:
        self.cuts = tuple(cuts)

    @property
    def is_empty(self) -> bool:
        """True when nothing goes or comes."""
        return not self.cuts

    @property
    def come(self) -> IntArray:
        """(new values,) where each stands afterwards."""
        found: list[int] = []
        shift = 0
        for start, end, count in self.cuts:
            found.extend(range(start + shift, start + shift + count))
            shift += count - (end - start)
        return np.array(found, np.int64)

    @property
    def kept(self) -> list[slice]:
        """Runs of old values that stay."""
        starts = [start for start, _, _ in self.cuts]
        ends = [end for _, end, _ in self.cuts]
        return [slice(first, last) for first, last in zip([0, *ends], [*starts, None], strict=True)]

    @property
    def _runs(self) -> Iterator[tuple[slice, slice]]:
        """Each run of old values that stays, and the new values behind it."""
        bounds = accumulate((count for _, _, count in self.cuts), initial=0)
        taken = [slice(first, last) for first, last in pairwise(bounds)]
        return zip(self.kept, [*taken, slice(0, 0)], strict=True)

    def array(self, values: npt.NDArray[_Number], new: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """The next array; ``new`` holds the new values of all cuts, one after another."""
        if self.is_empty:
            return values
        parts: list[npt.NDArray[_Number]] = []
        for kept, taken in self._runs:
            parts += values[kept], new[taken]
        return np.concatenate(parts)

    def extended(self, values: npt.NDArray[_Number], new: int) -> npt.NDArray[_Number]:
        """As ``array``, with one new value for all; always a copy."""
        if self.is_empty:
            return values.copy()
        return self.array(values, np.full(sum(count for _, _, count in self.cuts), new, values.dtype))

    def sequence(self, values: Sequence[_Value], new: Sequence[_Value]) -> list[_Value]:
        """As ``array``, of other values."""
        found: list[_Value] = []
        for kept, taken in self._runs:
            found += values[kept]
            found += new[taken]
        return found

    def moved(self, size: int) -> IntArray:
        """(size,) where each old value stands afterwards, -1 = it went."""
        places = np.arange(size, dtype=np.int64)
        shift = 0
        for run, (start, end, count) in zip(self.kept[1:], self.cuts, strict=True):
            places[start:end] = -1
            shift += count - (end - start)
            places[run] += shift
        return places
