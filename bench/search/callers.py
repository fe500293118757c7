"""Several callers at once, each with its own connection, and a sync that replaces documents meanwhile."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from searching import USER, Searcher, percentiles

CALLERS = [1, 8, 32]
SECONDS = 10
# One document of the corpus as kb_write_chunks gets it from `kb sync`, with new ids.
DOCUMENT = """
    select jsonb_agg(jsonb_build_object(
        'id', gen_random_uuid(), 'document_id', %s::uuid, 'ordinal', c.ordinal, 'content', c.content,
        'embedding', e.embedding::text, 'model', e.model, 'heading', h.embedding::text,
        'sentences', (
          select jsonb_agg(jsonb_build_object('start', s.start, 'end', s."end", 'embedding', s.embedding::text) order by s.ordinal)
          from kb_sentences s where s.chunk_id = c.id
        )))
    from kb_chunks c join kb_embeddings e on e.chunk_id = c.id join kb_headings h on h.chunk_id = c.id
    where c.document_id = (select id from kb_documents where source like 'site-%%' order by id offset %s limit 1)"""


def measure_callers(server, database, questions, callers, is_syncing):
    stop = threading.Event()
    with ThreadPoolExecutor(callers + 1) as pool:
        sync = pool.submit(keep_syncing, server, database, stop) if is_syncing else None
        started = time.perf_counter()
        runs = [pool.submit(keep_asking, server, database, questions, caller, started + SECONDS) for caller in range(callers)]
        try:
            times = [milliseconds for run in runs for milliseconds in run.result()]
        finally:
            stop.set()
        seconds = time.perf_counter() - started
        result = percentiles(times) | {"searches_per_second": round(len(times) / seconds, 1)}
        if sync is not None:
            result["documents_per_minute"] = round(sync.result() / seconds * 60, 1)
    return result


def keep_asking(server, database, questions, caller, until):
    """Times of one caller, who starts at a question of its own."""
    times = []
    with server.connect("postgres", database) as session:
        searcher = Searcher(session, USER)
        number = caller * 7
        while time.perf_counter() < until:
            question = questions[number % len(questions)]
            times.append(searcher.search(question["vector"], question["text"])[0])
            number += 1
    # The first search of a session plans all statements; PostgREST keeps its sessions.
    return times[1:]


def keep_syncing(server, database, stop):
    """Writes and publishes a document after the other, each as a new version of one source. Returns how many."""
    written = 0
    with server.connect("postgres", database) as session:
        session.execute("set role service_role")
        while not stop.is_set():
            insert = "insert into kb_documents (source, name) values (%s, 'sync') returning id"
            document = session.execute(insert, [f"sync/{written % 3}.md"]).fetchone()[0]
            chunks = session.execute(DOCUMENT, [document, written % 50]).fetchone()[0]
            with session.transaction():
                session.execute("select kb_write_chunks(%s::jsonb)", [json.dumps(chunks)])
            session.execute("select kb_publish_document(%s)", [document])
            written += 1
        session.execute("delete from kb_documents where collection = 'sync'")
    return written

