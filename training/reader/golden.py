"""What this code says of some passages, to compare the engine (embedder-wasm) with it.

golden.py WEIGHTS.safetensors OUT.json                questions and documents of this repository
golden.py WEIGHTS.safetensors OUT.json --pairs 500    written questions; READER_DATA is the folder with passages/

The frozen part is the engine's (base.py), which measures the reader's own error; with --exact, that of all-MiniLM-L6-v2 in f32.

OUT is {"checkpoint": SHA-256 of WEIGHTS, "items": [{"question", "heading", "statements", "ids", "markers", "z"}]}: markers and z have a
value for each statement, null for one that did not fit.
"""
import argparse
import gzip
import hashlib
import json
import os
import random
import re
import torch
from base import use_engine_base
from model import Reader, pad
from pack import pack, tokens

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.join(HERE, "..", "..")
LIMIT = 256


def shop():
    """Headings and statements of the sample documents."""
    folder = os.path.join(REPOSITORY, "supabase", "sample-kb")
    for name in sorted(os.listdir(folder)):
        title, *sections = re.split(r"^##? ", open(os.path.join(folder, name), encoding="utf-8").read(), flags=re.M)[1:]
        for section in sections:
            heading, _, text = section.partition("\n")
            lines = [re.sub(r"^(- |\d+\. )", "", line).strip() for line in text.splitlines()]
            statements = [s for line in lines for s in re.split(r"(?<=[.!?]) +", line) if s]
            yield f"{title.splitlines()[0]} › {heading}", statements


def of_repository():
    random.seed(1)
    passages = list(shop())
    questions = []
    for name in ("answerable", "unanswerable_near", "off_topic"):
        path = os.path.join(REPOSITORY, "bench", "retrieval", "shop", f"{name}.jsonl")
        questions += [json.loads(line)["question"] for line in open(path, encoding="utf-8")]
    words = lambda text: set(re.findall(r"[a-z]{4,}", text.lower()))
    for question in random.sample(questions, 80):
        # the passage that shares most words, so that some answer
        yield question, *max(passages, key=lambda p: len(words(question) & words(p[0] + " " + " ".join(p[1]))))
    question, heading, statements = "Can I get my money back?", *passages[0]
    yield "", "", []
    yield "", "", [""]
    yield "", heading, statements
    yield question, "", []
    yield question, "", [""]
    yield question, "", statements
    yield question, heading, ["", *statements[:2], "", ""]
    yield question, heading, [s for _, each in passages for s in each][:60]
    yield question, "", [""] * 300
    yield "", "refund", ["yes"] * 120
    yield question, " › ".join(h for h, _ in passages[:12]), statements
    yield " ".join(statements * 4), heading, statements
    yield "How long? " + "word " * 100, "", statements
    for unicode in ("¿Dónde está mi pedido nº 4711?", "返品はいつまで可能ですか。", "naïve coöperation 🚀 \u200b\ufeff x\u0301", "\0\t\r\n"):
        yield unicode, f"{unicode} › {unicode}", [unicode, unicode * 30, unicode]
    yield "[SEP] [CLS] [MASK] [unused0] [PAD]", "[SEP]", ["[unused0] [SEP]", "[M]", "a[SEP]b"]
    yield "a" * 300, "b" * 99, ["c" * 100, "c" * 101, "?" * 400]
    # "order" and "card" are one token each: of the question, of the heading, and until there is no room for a statement
    for count in (63, 64, 65, 200):
        yield "order " * count + "card", "", ["card"]
    for count in (38, 39, 40, 200):
        yield "", "card " + "order " * count, ["order"]
    used = len(tokens(question)) + 2
    for first in range(LIMIT - used - 7, LIMIT - used + 1):
        yield question, "", ["order " * first, "order card", "card"]


def written(count):
    random.seed(2)
    data, sites, rows = os.environ["READER_DATA"], {}, []
    for name in sorted(os.listdir(os.path.join(HERE, "questions"))):
        where = json.load(open(os.path.join(HERE, "map", name.removesuffix(".tsv") + ".json"), encoding="utf-8"))
        for line in open(os.path.join(HERE, "questions", name), encoding="utf-8"):
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 4 and fields[0] in where:
                rows.append((fields[3], where[fields[0]]))
    for question, place in random.sample(rows, count):
        site = place["domain"]
        if site not in sites:
            with gzip.open(os.path.join(data, "passages", site + ".jsonl.gz"), "rt", encoding="utf-8") as file:
                sites[site] = [json.loads(line) for line in file]
        passage = next(p for p in sites[site] if p["doc"] == place["doc"] and p["n"] == place["n"])
        title, section = passage.get("title") or "", passage.get("section") or ""
        heading = section if section.startswith(title) else " › ".join(x for x in (title, section) if x)
        yield question, heading, passage["sents"]


def read(reader, question, heading, statements):
    ids, segments, markers = pack(question, heading, statements, limit=LIMIT)
    with torch.no_grad():
        sent, null = reader(*pad([(ids, segments)]))
    z = [None if m is None else round((sent[0, m] - null[0]).item(), 4) for m in markers]
    return dict(question=question, heading=heading, statements=statements, ids=ids, markers=markers, z=z)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weights"), parser.add_argument("out"), parser.add_argument("--pairs", type=int)
    parser.add_argument("--exact", action="store_true")
    a = parser.parse_args()
    torch.set_num_threads(1)
    reader = Reader(dropout=0.0) if a.exact else use_engine_base(Reader(dropout=0.0))
    reader.load(a.weights)
    reader.eval()
    cases = written(a.pairs) if a.pairs else of_repository()
    text = lambda value: json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    items = ",\n".join(text(read(reader, *case)) for case in cases)
    checkpoint = hashlib.sha256(open(a.weights, "rb").read()).hexdigest()
    with open(a.out, "w", encoding="utf-8") as out:
        out.write(f'{{"checkpoint":"{checkpoint}","items":[\n{items}\n]}}\n')


if __name__ == "__main__":
    main()
