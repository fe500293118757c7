"""The questions of this folder and the data of READER_DATA (human/, passages/) -> packed pairs, mixed. pairs.py OUT.jsonl [SEED]

A line: {"ids", "segments", "markers": positions, "gold": indices into markers, "source"}; no gold: no sentence answers.
"""
import collections
import gzip
import json
import math
import os
import random
import re
import sys
from pack import pack

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ["READER_DATA"]
# how many rows of each set (the rest of a set adds little: its questions are alike)
TAKE = dict(
    squad1_du_test=5000, squad1_emptycity=1200, squad2_unansq_ctx=3345, squad2_unansq_du=1297, squad2_unansq_emptycity=753,
    squad2_unansq_kou=900, dstc11_val=2600, clapnq_dev=598, omosqa_en=240, omosqa_de=300, hotpot_2wiki_small=500,
    squadshifts_amazon=1000, squadshifts_reddit=1000, squadshifts_newwiki=1000, selqa=1500, qed_dev=1200, nq_open_oracle=1200,
    multispanqa_valid=550, sleepqa=800, tatqa_text=600, techqa=99, pubmedqa=200, bioasq=300, piaf_fr=300,
)
COMMON = set(
    "a an the is are was were do does did i you we they it to of for in on at by with and or not can could should would will my your "
    "our what when where which who how why if be have has had this that there from as me about any".split()
)


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def stems(text):
    return [re.sub(r"(ing|ed|es|s)$", "", w) for w in re.findall(r"[a-z0-9']+", text.lower()) if w not in COMMON]


class Bm25:
    """Finds passages of the same site that look like an answer and are not."""

    def __init__(self, texts):
        self.docs = [collections.Counter(stems(t)) for t in texts]
        self.size = [sum(d.values()) for d in self.docs]
        self.mean = sum(self.size) / max(1, len(self.size))
        df = collections.Counter(w for d in self.docs for w in d)
        self.idf = {w: math.log(1 + (len(self.docs) - n + 0.5) / (n + 0.5)) for w, n in df.items()}

    def top(self, question, count):
        words = set(stems(question))
        scored = []
        for i, d in enumerate(self.docs):
            norm = 1.2 * (0.25 + 0.75 * self.size[i] / self.mean)
            scored.append((sum(self.idf.get(w, 0) * d[w] * 2.2 / (d[w] + norm) for w in words if w in d), i))
        return [i for score, i in sorted(scored, reverse=True)[:count] if score > 0]


def human():
    for name, count in TAKE.items():
        rows = lines(f"{ROOT}/human/{name}/data.jsonl.gz")
        random.shuffle(rows)
        for r in rows[:count]:
            yield r["q"].strip(), r.get("title") or "", list(r["sents"]), list(r["gold"]), name
    # a paragraph of the same article that shares most words with the question, as one that does not answer
    squad = lines(f"{ROOT}/human/squad1_du_test/data.jsonl.gz")
    by_title = collections.defaultdict(list)
    for r in squad:
        by_title[r["title"]].append(r)
    words = lambda t: {w.lower().strip("?.,") for w in t.split() if len(w) > 3}
    for r in random.sample(squad, min(1200, len(squad))):
        same = by_title[r["title"]]
        others = [o for o in random.sample(same, min(12, len(same))) if o["sents"] != r["sents"]]
        if others:
            best = max(others, key=lambda o: len(words(r["q"]) & words(" ".join(o["sents"]))))
            yield r["q"], r["title"], list(best["sents"]), [], "squad_other_paragraph"


def heading(passage):
    title, section = passage.get("title") or "", passage.get("section") or ""
    return section if section.startswith(title) else " › ".join(x for x in (title, section) if x)


def written():
    """questions/*.tsv: passage of map/, kind (a: answered by the sentences named, n: near, not answered), sentences, question"""
    sites, search = {}, {}
    for name in sorted(os.listdir(f"{HERE}/questions")):
        where = json.load(open(f"{HERE}/map/{name.removesuffix('.tsv')}.json", encoding="utf-8"))
        for line in open(f"{HERE}/questions/{name}", encoding="utf-8"):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 4 or fields[0] not in where:
                continue
            key, kind, gold, question = fields
            place = where[key]
            site = place["domain"]
            if site not in sites:
                sites[site] = lines(f"{ROOT}/passages/{site}.jsonl.gz")
                search[site] = Bm25([(p.get("section") or "") + " " + p["content"] for p in sites[site]])
            passages = sites[site]
            at = next(i for i, p in enumerate(passages) if p["doc"] == place["doc"] and p["n"] == place["n"])
            gold = [int(x) - 1 for x in gold.split(",") if x.strip()] if kind == "a" else []
            yield question, heading(passages[at]), passages[at]["sents"], gold, "written" if gold else "written_near"
            if kind == "a" and random.random() < 0.6:
                others = [i for i in search[site].top(question, 5) if i != at and passages[i]["sents"]]
                others = [i for i in others if abs(i - at) > 1 or passages[i]["doc"] != passages[at]["doc"]]
                if others:
                    p = passages[random.choice(others[:2])]
                    yield question, heading(p), p["sents"], [], "written_other_passage"
            if random.random() < 0.1 and len(sites) > 1:  # a visitor of the wrong site
                p = random.choice(sites[random.choice([s for s in sites if s != site])])
                if p["sents"]:
                    yield question, heading(p), p["sents"], [], "written_other_site"


def main():
    out, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    random.seed(seed)
    items = [(True, r) for r in human()] + [(False, r) for r in written()]
    random.shuffle(items)
    counts = collections.Counter()
    with open(out, "w", encoding="utf-8") as file:
        for is_human, (question, title, sentences, gold, source) in items:
            if is_human:
                # answers of these sets lean to the front of the passage: begin later in a third of them
                if gold and min(gold) > 0 and random.random() < 0.35:
                    skip = random.randint(0, min(gold))
                    sentences, gold = sentences[skip:], [g - skip for g in gold]
                elif not gold and len(sentences) > 3 and random.random() < 0.35:
                    sentences = sentences[random.randint(0, len(sentences) - 2):]
                if random.random() < 0.25:
                    title = ""
            if random.random() < 0.15:
                question = question.rstrip("?. ").lower()
            ids, segments, markers = pack(question, title, sentences, limit=300)
            kept = [i for i, m in enumerate(markers) if m is not None]
            if gold and not any(g in kept for g in gold):
                continue
            row = dict(ids=ids, segments=segments, markers=[markers[i] for i in kept], gold=[kept.index(g) for g in gold if g in kept], source=source)
            file.write(json.dumps(row) + "\n")
            counts[source] += 1
    print(counts, sum(counts.values()))


if __name__ == "__main__":
    main()
