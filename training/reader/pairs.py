"""The questions of this folder and the data of READER_DATA (human/, passages/) -> questions with packed passages, mixed.

pairs.py VECTORS.npz OUT.jsonl [SEED] [--human SHARE]

A line is one question: {"source", "passages": [{"ids", "segments", "markers": positions, "gold": indices into markers}]}. The passages of
a written question are the one it was written for and those that a search of its site ranks above or near it; of another set, one.
No gold in any passage: nothing answers.
"""
import argparse
import collections
import gzip
import json
import math
import os
import random
import re
import numpy as np
from pack import pack

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ["READER_DATA"]
# how many rows of each set (the rest of a set adds little: its questions are alike)
TAKE = dict(
    squad1_du_test=5000, squad1_emptycity=1200, squad2_unansq_ctx=3345, squad2_unansq_du=1297, squad2_unansq_emptycity=753,
    squad2_unansq_kou=900, dstc11_val=2600, clapnq_dev=598, omosqa_en=240, omosqa_de=300, hotpot_2wiki_small=500,
    squadshifts_amazon=1000, squadshifts_reddit=1000, squadshifts_newwiki=1000, selqa=1500, qed_dev=1200, nq_open_oracle=1200,
    multispanqa_valid=550, sleepqa=800, tatqa_text=600, techqa=99, pubmedqa=200, bioasq=300, piaf_fr=700, faquad_pt=300,
)
# of these also a passage that does not answer, for each question: the one of some others that shares most words with it. Without the
# foreign ones z is high in any language but English, whatever the passage says
OTHERS = dict(squad1_du_test=1200, omosqa_de=666, omosqa_en=240, piaf_fr=700, faquad_pt=300)
LIMIT = 256  # tokens of an input
COMMON = set(
    "a an the is are was were do does did i you we they it to of for in on at by with and or not can could should would will my your "
    "our what when where which who how why if be have has had this that there from as me about any".split()
)


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def stems(text):
    return [re.sub(r"(ing|ed|es|s)$", "", w) for w in re.findall(r"[a-z0-9']+", text.lower()) if w not in COMMON]


class Search:
    """Cosine and shared words, as the product's search: what looks like an answer to it."""

    def __init__(self, texts, vectors):
        self.docs = [collections.Counter(stems(t)) for t in texts]
        self.vectors = vectors.astype(np.float32)
        df = collections.Counter(w for d in self.docs for w in d)
        self.idf = {w: math.log(1 + (len(self.docs) - n + 0.5) / (n + 0.5)) for w, n in df.items()}

    def top(self, question, vector, count):
        words = set(stems(question))
        total = sum(self.idf.get(w, 8.0) for w in words) or 1
        share = np.array([sum(self.idf[w] for w in words if w in d) / total for d in self.docs])
        score = self.vectors @ vector.astype(np.float32) + 0.35 * share
        return [int(i) for i in np.argsort(-score)[:count]]


def human(share):
    for name, count in TAKE.items():
        rows = lines(f"{ROOT}/human/{name}/data.jsonl.gz")
        random.shuffle(rows)
        for r in rows[: int(count * share)]:
            yield r["q"].strip(), r.get("title") or "", list(r["sents"]), list(r["gold"]), name
    words = lambda t: {w.lower().strip("?.,") for w in t.split() if len(w) > 3}
    for name, count in OTHERS.items():
        rows = lines(f"{ROOT}/human/{name}/data.jsonl.gz")
        by_title = collections.defaultdict(list)
        for r in rows:
            by_title[r.get("title")].append(r)
        for r in random.sample(rows, min(int(count * share), len(rows))):
            # half of them of the same article
            near = by_title[r.get("title")] if random.random() < 0.5 else rows
            others = [o for o in random.sample(near, min(12, len(near))) if o["sents"] != r["sents"]]
            if others:
                best = max(others, key=lambda o: len(words(r["q"]) & words(" ".join(o["sents"]))))
                yield r["q"], best.get("title") or "", list(best["sents"]), [], name + "_other"


def mistyped(text):
    """With one letter left out, doubled or after its neighbour."""
    at = random.randrange(max(1, len(text) - 1))
    letter, rest = text[at : at + 1], text[at + 1 :]
    return text[:at] + random.choice((rest, letter * 2 + rest, rest[:1] + letter + rest[1:]))


def heading(passage):
    title, section = passage.get("title") or "", passage.get("section") or ""
    return section if section.startswith(title) else " › ".join(x for x in (title, section) if x)


def written(vectors):
    questions, at = vectors["questions"], -1
    sites = {name.removesuffix(".jsonl.gz"): lines(f"{ROOT}/passages/{name}") for name in sorted(os.listdir(f"{ROOT}/passages"))}
    search = {
        site: Search([(p.get("section") or "") + " " + p["content"] for p in passages], vectors["p/" + site])
        for site, passages in sites.items()
    }
    for name in sorted(os.listdir(f"{HERE}/questions")):
        where = json.load(open(f"{HERE}/map/{name.removesuffix('.tsv')}.json", encoding="utf-8"))
        for line in open(f"{HERE}/questions/{name}", encoding="utf-8"):
            at += 1
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 4 or fields[0] not in where:
                continue
            key, kind, gold, question = fields
            place = where[key]
            site = place["domain"]
            passages = sites[site]
            own = next(i for i, p in enumerate(passages) if p["doc"] == place["doc"] and p["n"] == place["n"])
            gold = [int(x) - 1 for x in gold.split(",") if x.strip()] if kind == "a" else []
            found = [i for i in search[site].top(question, questions[at], 6) if i != own and passages[i]["sents"]]
            # the neighbour of the same document may say the same
            found = [i for i in found if abs(i - own) > 1 or passages[i]["doc"] != passages[own]["doc"]]
            count = random.choice((1, 2, 2)) if gold else random.choice((0, 1))
            others = random.sample(found[:4], min(count, len(found[:4])))
            if random.random() < 0.15:  # a visitor of the wrong site, and what its search finds
                other = random.choice([s for s in sites if s != site])
                found = [sites[other][i] for i in search[other].top(question, questions[at], 4)]
                if found := [(heading(p), p["sents"], []) for p in found if p["sents"]]:
                    yield question, random.sample(found, min(2, len(found))), "written_other_site"
            group = [(heading(passages[i]), passages[i]["sents"], gold if i == own else []) for i in [own] + others]
            yield question, group, "written" if gold else "written_near"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vectors"), parser.add_argument("out"), parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--human", type=float, default=1.0)
    a = parser.parse_args()
    random.seed(a.seed)
    items = [(q, [(title, sents, gold)], source, True) for q, title, sents, gold, source in human(a.human)]
    items += [(q, group, source, False) for q, group, source in written(np.load(a.vectors))]
    random.shuffle(items)
    counts, tokens = collections.Counter(), 0
    with open(a.out, "w", encoding="utf-8") as file:
        for question, group, source, is_human in items:
            if random.random() < 0.15:
                question = question.rstrip("?. ").lower()
            if random.random() < 0.08:
                question = mistyped(question)
            packed, answered = [], False
            for title, sentences, gold in group:
                sentences, gold = list(sentences), list(gold)
                if is_human:
                    # answers of these sets lean to the front of the passage: begin later in a third of them
                    if gold and min(gold) > 0 and random.random() < 0.35:
                        skip = random.randint(0, min(gold))
                        sentences, gold = sentences[skip:], [g - skip for g in gold]
                    elif not gold and len(sentences) > 3 and random.random() < 0.35:
                        sentences = sentences[random.randint(0, len(sentences) - 2):]
                    if random.random() < 0.25:
                        title = ""
                ids, segments, markers = pack(question, title, sentences, limit=LIMIT)
                kept = [i for i, m in enumerate(markers) if m is not None]
                right = [kept.index(g) for g in gold if g in kept]
                answered |= bool(right)
                if gold and not right:
                    packed = None
                    break
                packed.append(dict(ids=ids, segments=segments, markers=[markers[i] for i in kept], gold=right))
            if not packed:
                continue
            file.write(json.dumps(dict(source=source, passages=packed)) + "\n")
            counts[source] += 1
            tokens += sum(len(p["ids"]) for p in packed)
    print(counts, sum(counts.values()), tokens)


if __name__ == "__main__":
    main()
