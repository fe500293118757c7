"""The frozen part of the reader as the engine computes it: words, positions and layers 0 and 1 of the embedder's int8 file.

The engine's weights and its rounding of inputs move z by .08 on average, more than the int8 layers of the reader itself (.02). A reader
that is trained on this base, use_engine_base(Reader()), does not see that error.
"""
import os
import torch
from safetensors.torch import load_file
from model import FROZEN
from pack import MARK, MODEL

FILE = "all-MiniLM-L6-v2-int8.safetensors"
POSITIONS = 256


def use_engine_base(reader):
    """Replaces the weights of the frozen part. -> reader"""
    file = load_file(os.path.join(MODEL, FILE))
    with torch.no_grad():
        word = file["embeddings.word_embeddings.weight"].float() * file["embeddings.word_embeddings.scale"][:, None]
        word[MARK] = reader.word.weight[MARK]  # zero in the file; the reader's file has it
        reader.word.weight.copy_(word)
        # the file's positions include token type 0
        reader.pos.weight[:POSITIONS].copy_(file["embeddings.position_embeddings.weight"] - reader.seg.weight[0])
        norm(reader.ln, file, "embeddings.LayerNorm")
        for i in range(FROZEN):
            layer, name = reader.layers[i], f"encoder.layer.{i}."
            attention = [name + f"attention.self.{part}" for part in ("query", "key", "value")]
            linear(layer.qkv, file, attention, name + "attention.self", -64)
            for module, part, low in ((layer.o, "attention.output.dense", -64), (layer.up, "intermediate.dense", -64), (layer.down, "output.dense", -14)):
                linear(module, file, [name + part], name + part, low)
            norm(layer.ln1, file, name + "attention.output.LayerNorm")
            norm(layer.ln2, file, name + "output.LayerNorm")
    return reader


def norm(module, file, name):
    module.weight.copy_(file[name + ".weight"]), module.bias.copy_(file[name + ".bias"])


def linear(module, file, names, inputs, low):
    module.weight.copy_(torch.cat([matrix(file, name) for name in names]))
    module.bias.copy_(torch.cat([file[name + ".bias"] for name in names]))
    wide = file[inputs + ".wide_columns"].long()

    def rounded(_, args):
        """Inputs as embedder-wasm/src/kernels/inputs.rs rounds them: low to low + 127, wide columns ±8191."""
        narrow = args[0].clone()
        narrow[..., wide] = 0
        scales = [narrow.amax(-1) / (low + 127), (-narrow).amax(-1) / -low, args[0].abs().amax(-1) / 8191]
        scale = torch.stack(scales).amax(0)[..., None].clamp(min=1e-30)
        return ((args[0] / scale).round() * scale,)

    module.register_forward_pre_hook(rounded)


def matrix(file, name):
    weight = file[name + ".weight"].float()
    weight[file[name + ".weight"] == -128] = file[name + ".exceptions"].float()
    return weight * file[name + ".scale"]
