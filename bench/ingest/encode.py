"""Embeds with sentence-transformers on the CPU, in f32: `python encode.py MODEL_FOLDER WORK_FOLDER THREADS`.

MODEL_FOLDER holds `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2; WORK_FOLDER becomes a folder that
sentence-transformers loads. Answers each line of standard input with one line, as `bench-ingest embed` does:
`{"do": "time", "texts": FILE}` with the milliseconds of embedding the strings of a JSON file, tokenizing and pooling
included; `{"do": "vectors", "texts": FILE, "output": FILE}` with how many vectors it wrote, 384 little-endian f32 each.
"""

import json
import sys
import time
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer

WIDTH = 384
MAX_TOKENS = 256

# The configuration of the published model.
BERT = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "pad_token_id": 0,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
TOKENIZER = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
MODULES = ["Transformer", "Pooling", "Normalize"]


def load(source, folder):
    """The model as sentence-transformers' own `all-MiniLM-L6-v2`, on the CPU."""
    pooling = folder / "1_Pooling"
    for directory in (folder, pooling, folder / "2_Normalize"):
        directory.mkdir(parents=True, exist_ok=True)
    for name in ("model.safetensors", "tokenizer.json"):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to((source / name).resolve())
    write(folder / "config.json", BERT)
    write(folder / "tokenizer_config.json", TOKENIZER)
    write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": False})
    write(pooling / "config.json", {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True})
    write(
        folder / "modules.json",
        [
            {
                "idx": index,
                "name": str(index),
                "path": "" if index == 0 else f"{index}_{name}",
                "type": f"sentence_transformers.models.{name}",
            }
            for index, name in enumerate(MODULES)
        ],
    )
    return SentenceTransformer(str(folder), device="cpu")


def write(path, value):
    path.write_text(json.dumps(value, indent=1))


def answer(model, request):
    texts = json.loads(Path(request["texts"]).read_text())
    started = time.perf_counter()
    # Its defaults: batches of 32, sorted by length.
    vectors = model.encode(texts, show_progress_bar=False)
    milliseconds = 1e3 * (time.perf_counter() - started)
    if request["do"] == "time":
        return milliseconds
    Path(request["output"]).write_bytes(vectors.astype("<f4").tobytes())
    return len(vectors)


def main(source, folder, threads):
    torch.set_num_threads(int(threads))
    model = load(Path(source), Path(folder))
    # The first pass also initialises what later passes use.
    model.encode(["ready"], show_progress_bar=False)
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(model, json.loads(line)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
