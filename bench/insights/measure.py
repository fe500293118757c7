"""Times the insights functions on native Postgres with a year of generated conversations, as an administrator.

    pip install -r bench/search/requirements.txt
    python bench/insights/measure.py [--messages 1000000] [--runs 30] [--work FOLDER]

Starts a server of its own in FOLDER (a temporary one unless given), applies the migrations, generates the conversations, which pass
the trigger that counts, and prints one JSON document.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "search"))

from native import WORKER_HEADERS, Server, apply_migrations, create_project, percentiles  # noqa: E402

WARM_UP = 3
WINDOWS = [7, 30, 90]
FUNCTIONS = [
    "chat_insights",
    "chat_insights_days",
    "chat_insights_gaps",
    "chat_insights_documents",
    "chat_insights_uncited",
    "chat_insights_health",
]
ADMINISTRATOR = "a0000000-0000-4000-8000-000000000001"
CLAIMS = json.dumps(
    {"sub": ADMINISTRATOR, "role": "authenticated", "app_metadata": {"evidence_chat": "administrator"}}
)
DOCUMENTS = 1_000
USERS = 20_000
GAP_GROUPS = 2_000
TURNS_PER_SESSION = 4
# Of ten turns, two are refused, by three assistants. Some documents and gaps are asked for much more often than others.
GENERATE = """
    select setseed(0.5);
    insert into assistants (name) values ('shop'), ('staff');
    insert into auth.users (id) select gen_random_uuid() from generate_series(1, {users} - 1);
    insert into auth.users (id) values ('{administrator}');
    create temporary table someone as select row_number() over () as number, id from auth.users;
    create index on someone (number);

    insert into kb_documents (source, name, status, meta)
      select format('handbook/%s.md', n), format('%s.md', n), 'ready', jsonb_build_object('title', format('Page %s', n))
        from generate_series(1, {documents}) as n;
    create temporary table some_document as select row_number() over () as number, id from kb_documents;
    create index on some_document (number);

    create temporary table conversation as
      select n as number, gen_random_uuid() as id, (array['default', 'shop', 'staff'])[1 + n % 3] as assistant,
          1 + floor(random() * {users})::int as someone, now() - random() * interval '364 days' as started
        from generate_series(1, {sessions}) as n;
    insert into chat_sessions (id, user_id, assistant, title, created_at, updated_at)
      select c.id, s.id, c.assistant, 'A question', c.started, c.started from conversation c join someone s on s.number = c.someone;

    create temporary table turn as
      select c.id as session_id, c.number, c.assistant, c.someone, c.started + t * interval '1 minute' as asked, random() < 0.2 as is_refused,
          1 + floor({documents} * 0.8 * power(random(), 3))::int as first, 1 + floor({documents} * 0.8 * power(random(), 3))::int as second,
          floor({groups} * power(random(), 2))::int as gap, (40 * exp(2.5 * random() * random()))::int as latency
        from conversation c cross join generate_series(1, {turns}) as t;
"""
MESSAGES = """
    alter table chat_messages disable trigger chat_messages_prepare;
    alter table chat_messages disable trigger chat_messages_touch_session;
    insert into chat_messages (session_id, role, content, from_worker, created_at)
      select session_id, 'user', 'How long do I have to return an order?', true, asked from turn;
    insert into chat_messages (session_id, role, content, citations, sources, refusal, latency_ms, from_worker, created_at)
      select t.session_id, 'assistant', repeat('You can return an order within 30 days. ', 4),
          case when t.is_refused then '[]' else jsonb_build_array(jsonb_build_object('index', 1, 'document_id', a.id)) end,
          case when t.is_refused then '{}' else array[a.id, b.id] end,
          case when t.is_refused then 'weak_evidence' end, t.latency, true, t.asked + interval '1 second'
        from turn t
        join some_document a on a.number = t.first
        join some_document b on b.number = t.second;
    alter table chat_messages enable trigger all;
"""
# The trigger would look for the group of each question in the vector index.
REFUSALS = """
    create temporary table gap as
      select g as number, gen_random_uuid() as id, extensions.l2_normalize(array_agg(random() - 0.5)::extensions.vector(384)) as embedding
        from generate_series(0, {groups} - 1) as g cross join generate_series(1, 384)
        group by g;
    alter table chat_refusals disable trigger chat_refusals_prepare;
    drop index chat_refusals_embedding_hnsw;
    insert into chat_refusals
        (user_id, session_id, assistant, question, embedding, best_score, reason, group_id, asker, from_worker, created_at)
      select s.id, t.session_id, t.assistant, format('Question %s about subject %s', t.number % 7, t.gap), g.embedding, 0.4, 'weak_evidence',
          md5(g.id || t.assistant)::uuid, sha256(convert_to(t.someone::text, 'UTF8')), true, t.asked
        from turn t
        join gap g on g.number = t.gap
        join someone s on s.number = t.someone
        where t.is_refused;
    alter table chat_refusals enable trigger all;
"""
SIZES = """
    select c.relname, pg_total_relation_size(c.oid)
      from pg_class c where c.oid in ('internal.chat_daily'::regclass, 'internal.chat_daily_latency'::regclass,
        'internal.chat_daily_documents'::regclass, 'public.chat_messages'::regclass, 'public.chat_refusals'::regclass)"""
RECORD = "select chat_record_turn(%s, 'Title', gen_random_uuid(), 'Q?', gen_random_uuid(), 'A.', '[]', %s, 100)"


def main():
    options = parse_arguments()
    work = Path(options.work or tempfile.mkdtemp(prefix="insights-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    server = Server(work)
    server.start()
    try:
        result = measure(server, options)
    finally:
        server.stop()
        if options.work is None:
            shutil.rmtree(work)
    json.dump(result, sys.stdout, indent=2)
    print()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--work")
    return parser.parse_args()


def measure(server, options):
    create_project(server, "bench_insights")
    with server.connect("project_owner", "bench_insights") as owner:
        apply_migrations(owner)
    # Only a superuser may write auth.users and switch off the triggers that the system made.
    with server.connect("postgres", "bench_insights") as loader:
        load_seconds = load(loader, options.messages)
        rows = {
            table: loader.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("chat_messages", "chat_refusals", "kb_documents", "internal.chat_daily_documents")
        }
        sizes = dict(loader.execute(SIZES).fetchall())
    with server.connect("postgres", "bench_insights") as session:
        views = [
            {"function": function, "days": days, "assistant": assistant, **time_view(session, function, days, assistant, options.runs)}
            for function in FUNCTIONS
            for days in WINDOWS
            for assistant in (None, "shop")
        ]
        turns = time_turns(session)
    return {"database": server.version, "rows": rows, "bytes": sizes, "load_seconds": load_seconds, "views": views, "turns": turns}


def load(loader, messages):
    started = time.perf_counter()
    values = {
        "users": USERS,
        "documents": DOCUMENTS,
        "groups": GAP_GROUPS,
        "turns": TURNS_PER_SESSION,
        "sessions": messages // (2 * TURNS_PER_SESSION),
        "administrator": ADMINISTRATOR,
    }
    loader.execute("set search_path = public, extensions")
    loader.execute(GENERATE.format(**values))
    loader.execute("analyze turn")
    loader.execute("analyze some_document")
    loader.execute("analyze someone")
    loader.execute(MESSAGES)
    loader.execute(REFUSALS.format(**values))
    loader.execute("vacuum analyze")
    return round(time.perf_counter() - started, 1)


def time_view(session, function, days, assistant, runs):
    def once():
        with session.transaction():
            become_administrator(session)
            started = time.perf_counter()
            rows = session.execute(f"select * from {function}(%s, %s)", [days, assistant]).fetchall()
            return (time.perf_counter() - started) * 1000, len(rows)

    for _ in range(WARM_UP):
        once()
    results = [once() for _ in range(runs)]
    # With few messages, a week may have no gap.
    if days == max(WINDOWS) and not all(count for _, count in results):
        raise SystemExit(f"{function} returned no rows")
    return {"ms": percentiles([milliseconds for milliseconds, _ in results])}


def become_administrator(session):
    session.execute("set local role authenticated")
    session.execute("select set_config('request.jwt.claims', %s, true)", [CLAIMS])
    session.execute("select set_config('request.jwt.claim.sub', %s, true)", [ADMINISTRATOR])
    session.execute("select set_config('request.headers', %s, true)", [WORKER_HEADERS])


def time_turns(session):
    """What counting costs a turn: chat_record_turn with and without the trigger."""
    documents = [row[0] for row in session.execute("select id from kb_documents limit 3")]

    def once():
        with session.transaction():
            become_administrator(session)
            session_id = session.execute("select gen_random_uuid()").fetchone()[0]
            started = time.perf_counter()
            session.execute(RECORD, [session_id, documents])
            return (time.perf_counter() - started) * 1000

    results = {}
    for state in ("enable", "disable"):
        session.execute(f"alter table chat_messages {state} trigger chat_messages_count")
        for _ in range(20):
            once()
        results["counted_ms" if state == "enable" else "uncounted_ms"] = percentiles([once() for _ in range(300)])
    session.execute("alter table chat_messages enable trigger chat_messages_count")
    return results


if __name__ == "__main__":
    main()
