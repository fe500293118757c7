"""Writes all-MiniLM-L6-v2 as an f32 ONNX graph: `python export.py model.safetensors model.onnx`.

ONNX Runtime fuses the operators further when it loads the file. Inputs: input_ids, attention_mask and token_type_ids,
all int64 [batch, length]; output: last_hidden_state, f32 [batch, length, 384].
"""

import json
import struct
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

LAYERS, HEADS, HEAD_WIDTH, WIDTH = 6, 12, 32, 384
EPSILON = 1e-12


def read_safetensors(path):
    """The f32 tensors of a safetensors file, by name."""
    with open(path, "rb") as file:
        (header_bytes,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_bytes))
        data = file.read()
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
        for name, entry in header.items()
        if entry["dtype"] == "F32"
    }


class Graph:
    """Collects nodes and constants; each method returns the name of its output."""

    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, *inputs, output=None, **attributes):
        output = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def linear(self, x, name):
        product = self.node("MatMul", x, self.constant(self.weights[f"{name}.weight"].T))
        return self.node("Add", product, self.constant(self.weights[f"{name}.bias"]))

    def layer_norm(self, x, name, output=None):
        scale, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", x, scale, bias, output=output, axis=-1, epsilon=EPSILON)

    def gelu(self, x):
        half = self.node("Mul", x, self.constant(np.float32(0.5)))
        erf = self.node("Erf", self.node("Div", x, self.constant(np.float32(np.sqrt(2.0)))))
        return self.node("Mul", half, self.node("Add", erf, self.constant(np.float32(1.0))))

    def heads(self, x, permutation):
        split = self.node("Reshape", x, self.constant(np.array([0, 0, HEADS, HEAD_WIDTH], np.int64)))
        return self.node("Transpose", split, perm=permutation)


def embeddings(graph):
    weights = graph.weights

    def lookup(name, ids):
        return graph.node("Gather", graph.constant(weights[f"embeddings.{name}.weight"]), ids)

    words = lookup("word_embeddings", "input_ids")
    types = lookup("token_type_embeddings", "token_type_ids")
    length = graph.node("Gather", graph.node("Shape", "input_ids"), graph.constant(np.array([1], np.int64)))
    positions = graph.node(
        "Slice",
        graph.constant(weights["embeddings.position_embeddings.weight"]),
        graph.constant(np.array([0], np.int64)),
        length,
        graph.constant(np.array([0], np.int64)),
    )
    sum_ = graph.node("Add", graph.node("Add", words, types), positions)
    return graph.layer_norm(sum_, "embeddings.LayerNorm")


def attention_mask(graph):
    """0 for a token to read, a large negative number for padding; [batch, 1, 1, length]."""
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", mask, graph.constant(np.array([1, 2], np.int64)))
    inverted = graph.node("Sub", graph.constant(np.float32(1.0)), mask)
    return graph.node("Mul", inverted, graph.constant(np.finfo(np.float32).min))


def layer(graph, x, mask, index, output):
    prefix = f"encoder.layer.{index}"
    query = graph.heads(graph.linear(x, f"{prefix}.attention.self.query"), [0, 2, 1, 3])
    key = graph.heads(graph.linear(x, f"{prefix}.attention.self.key"), [0, 2, 3, 1])
    value = graph.heads(graph.linear(x, f"{prefix}.attention.self.value"), [0, 2, 1, 3])
    scores = graph.node(
        "Div", graph.node("MatMul", query, key), graph.constant(np.float32(np.sqrt(HEAD_WIDTH)))
    )
    shares = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)
    context = graph.node("Transpose", graph.node("MatMul", shares, value), perm=[0, 2, 1, 3])
    context = graph.node("Reshape", context, graph.constant(np.array([0, 0, WIDTH], np.int64)))
    attended = graph.linear(context, f"{prefix}.attention.output.dense")
    x = graph.layer_norm(graph.node("Add", attended, x), f"{prefix}.attention.output.LayerNorm")
    widened = graph.gelu(graph.linear(x, f"{prefix}.intermediate.dense"))
    narrowed = graph.linear(widened, f"{prefix}.output.dense")
    return graph.layer_norm(graph.node("Add", narrowed, x), f"{prefix}.output.LayerNorm", output)


def export(source, target):
    graph = Graph(read_safetensors(source))
    x = embeddings(graph)
    mask = attention_mask(graph)
    for index in range(LAYERS):
        x = layer(graph, x, mask, index, "last_hidden_state" if index == LAYERS - 1 else None)
    tensor = helper.make_tensor_value_info
    inputs = [
        tensor(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = tensor(x, TensorProto.FLOAT, ["batch", "length", WIDTH])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    checker.check_model(model, full_check=True)
    save(model, target)


if __name__ == "__main__":
    export(*sys.argv[1:3])
