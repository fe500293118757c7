"""Vectors of the passages and of the written questions, with which pairs.py finds what the product's search would find.

vectors.py OUT.npz: p/<site> [passages, 384] and questions [questions, 384], float16, unit length. Takes about fifteen minutes of two cores.
"""
import glob
import gzip
import json
import os
import sys
import numpy as np
import torch
from model import Reader, pad
from pack import tokens

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT, BATCH = 256, 6000  # tokens of a text, and with padding of a batch


def embed(model, texts):
    out = np.zeros((len(texts), 384), np.float16)
    ids = [[101] + tokens(text)[: LIMIT - 2] + [102] for text in texts]
    batch = []
    for i in sorted(range(len(texts)), key=lambda i: len(ids[i])):
        if batch and (len(batch) + 1) * len(ids[i]) > BATCH:
            out[batch] = vectors(model, [ids[j] for j in batch])
            batch = []
        batch.append(i)
    if batch:
        out[batch] = vectors(model, [ids[j] for j in batch])
    return out


def vectors(model, rows):
    ids, segments, mask = pad([(row, [0] * len(row)) for row in rows])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        x = model.ln(model.word(ids) + model.pos(torch.arange(ids.shape[1]))[None] + model.seg(segments))
        for layer in model.layers:
            x = layer(x, mask[:, None, None, :], 0.0)
    mean = (x.float() * mask[..., None]).sum(1)
    return (mean / mean.norm(dim=1, keepdim=True)).numpy()


def main():
    model, out = Reader().eval(), {}
    for path in sorted(glob.glob(os.environ["READER_DATA"] + "/passages/*.jsonl.gz")):
        site = os.path.basename(path).removesuffix(".jsonl.gz")
        passages = [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]
        out["p/" + site] = embed(model, [(p.get("section") or p.get("title") or "") + "\n" + p["content"] for p in passages])
        print(site, len(passages), flush=True)
    lines = [line for path in sorted(glob.glob(HERE + "/questions/*.tsv")) for line in open(path, encoding="utf-8")]
    out["questions"] = embed(model, [line.rstrip("\n").split("\t")[-1] for line in lines])
    np.savez(sys.argv[1], **out)


if __name__ == "__main__":
    main()
