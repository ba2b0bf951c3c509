"""A small real cross-encoder: ONNX weights and tokenizer files, loaded through FastEmbed as any other.

Its logit is the number of token ids that stand more than once in the pair, minus two: it counts words that query and
passage share.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def make_cross_encoder(folder: Path, vocabulary: Sequence[str]) -> Path:
    """Write the model's files; words outside the vocabulary are unknown and count for nothing."""
    folder.mkdir(parents=True)
    ids = {word: place for place, word in enumerate([*SPECIAL, *vocabulary])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 128, "pad_token": "[PAD]", "max_length": 128})
    )
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    onnx.save(_graph(len(SPECIAL)), str(folder / "model.onnx"))
    return folder


def _graph(first_word: int) -> onnx.ModelProto:
    """Pairs of positions with the same word id, without each position paired with itself."""
    constants = [
        helper.make_tensor("first", TensorProto.INT64, [], [first_word]),
        helper.make_tensor("rows", TensorProto.INT64, [1], [2]),
        helper.make_tensor("columns", TensorProto.INT64, [1], [1]),
        helper.make_tensor("two", TensorProto.FLOAT, [], np.array([2.0], np.float32)),
        helper.make_tensor("last", TensorProto.INT64, [1], [1]),
        helper.make_tensor("both", TensorProto.INT64, [2], [1, 2]),
    ]
    nodes = [
        helper.make_node("GreaterOrEqual", ["input_ids", "first"], ["word"]),
        helper.make_node("Unsqueeze", ["input_ids", "rows"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "columns"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["same"]),
        helper.make_node("Unsqueeze", ["word", "rows"], ["word_down"]),
        helper.make_node("And", ["same", "word_down"], ["counted"]),
        helper.make_node("Cast", ["counted"], ["pairs"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["pairs", "both"], ["all"], keepdims=0),
        helper.make_node("Cast", ["word"], ["words"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["words", "last"], ["selves"], keepdims=0),
        helper.make_node("Sub", ["all", "selves"], ["twice"]),
        helper.make_node("Sub", ["twice", "two"], ["flat"]),
        helper.make_node("Unsqueeze", ["flat", "last"], ["logits"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])]
    graph = helper.make_graph(nodes, "overlap", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model
