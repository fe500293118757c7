"""Times match_chunks on native Postgres with pgvector, as the role `authenticated` under Row Level Security.

    pip install -r bench/search/requirements.txt
    python bench/search/native.py [--sizes 10000,100000] [--questions 100] [--work FOLDER] [--node NODE]

Starts a server of its own in FOLDER (a temporary one unless given; as root it runs as the user `nobody`), applies the
migrations as an owner without superuser rights, loads a synthetic corpus for each size, and prints one JSON document.
What is loaded stays in FOLDER, and the next run only measures. A tenth of the documents is restricted to one of 20 teams.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from callers import CALLERS, measure_callers
from loading import log, prepare
from recall import measure_recall
from searching import MEMBER, USER, Searcher, percentiles
from server import SETTINGS, Server

WARM_UP = 10
PASSES = 3
SIZES = """
    select c.relname, pg_table_size(c.oid)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relname like 'kb\\_%' and c.relkind in ('r', 'i') order by c.relname"""


def main():
    options = parse_arguments()
    work = Path(options.work or tempfile.mkdtemp(prefix="search-bench-")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    server = Server(work)
    server.start()
    try:
        results = [measure(server, size, options, work) for size in options.sizes]
    finally:
        server.stop()
        if options.work is None:
            shutil.rmtree(work)
    json.dump({"database": server.version, "settings": SETTINGS, "sizes": results}, sys.stdout, indent=2)
    print()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--work")
    parser.add_argument("--node", default="node")
    return parser.parse_args()


def measure(server, size, options, work):
    database, document, loaded = prepare(server, size, options, work)
    questions = document["questions"]
    result = {"chunks": size, **loaded}
    with server.connect("postgres", database) as admin:
        # What the last run's writers left would count as storage, and slow the search down.
        admin.execute("vacuum analyze")
        result["bytes_per_chunk"] = {name: round(total / size, 1) for name, total in admin.execute(SIZES)}
    result["load_average_before"] = round(os.getloadavg()[0], 1)

    log(f"{size} chunks: one caller")
    with server.connect("postgres", database) as session:
        user = Searcher(session, USER)
        # Reads what no search has read since the load, from the cache of the operating system or the disk.
        result["first_pass_ms"] = percentiles([user.search(question["vector"], question["text"])[0] for question in questions])
        # From here on as after some minutes of questions: the search is measured, not the disk.
        result["with_text_ms"], hits = time_searches(user, questions, lambda question: question["text"])
        result["source_chunk_first"] = hits
        result["vector_only_ms"], _ = time_searches(user, questions, lambda _: None)
        result["common_words_ms"], _ = time_searches(user, questions, lambda _: document["commonWords"])
    with server.connect("postgres", database) as session:
        result["member_ms"], _ = time_searches(Searcher(session, MEMBER), questions, lambda question: question["text"])
    result["load_average_after"] = round(os.getloadavg()[0], 1)
    if result["source_chunk_first"] < 0.5:
        raise RuntimeError(f"the right chunk comes first for only {result['source_chunk_first']:.0%} of the questions")

    log(f"{size} chunks: recall")
    result |= measure_recall(server, database, questions)
    for callers in CALLERS:
        log(f"{size} chunks: {callers} callers")
        result[f"callers_{callers}"] = measure_callers(server, database, questions, callers, is_syncing=False)
    log(f"{size} chunks: 8 callers while a sync writes")
    result["callers_8_syncing"] = measure_callers(server, database, questions, 8, is_syncing=True)
    return result


def time_searches(searcher, questions, text):
    """Percentiles, and how often the chunk that a question was made from ranks first: a check that the search works."""
    for question in questions[:WARM_UP]:
        searcher.search(question["vector"], text(question))
    times, hits = [], 0
    for question in questions * PASSES:
        milliseconds, rows = searcher.search(question["vector"], text(question))
        times.append(milliseconds)
        hits += bool(rows) and str(rows[0][0]) == question["chunkId"]
    return percentiles(times), hits / len(times)


if __name__ == "__main__":
    main()
