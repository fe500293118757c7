"""A database with the migrations and the synthetic corpus."""

import hashlib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
MIGRATIONS = HERE.parents[1] / "supabase" / "migrations"
# Identifies the Worker, whose searches the database does not limit.
WORKER_SECRET = "the secret of the Worker in this measurement"
# What the corpus depends on.
GENERATOR = ["corpus.mjs", "tables.mjs", "export.mjs", "copy-binary.mjs"]
# Loaded by one connection; another loads the vectors meanwhile.
TEXTS = ["kb_documents", "kb_chunks"]
# Constraints stay: their indexes are needed to write. These are many times faster to build from all rows.
BUILT_AFTERWARDS = """
    select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
    from pg_index i
    where i.indrelid in ('kb_chunks'::regclass, 'kb_embeddings'::regclass)
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid)"""
MISMATCHES = """
    select count(*) from kb_chunks c join kb_documents d on d.id = c.document_id join kb_embeddings e on e.chunk_id = c.id
    where (c.searchable, c.audience, c.collection) is distinct from (d.audience is null, d.audience, d.collection)
      or (e.searchable, e.audience, e.collection) is distinct from (c.searchable, c.audience, c.collection)"""


def prepare(server, size, options, work):
    """Returns the questions and what is known of the load. A database that an earlier run left in `work` is used again."""
    corpus = work / f"corpus-{size}-{generator_hash()[:8]}"
    if not (corpus / "corpus.json").exists():
        log(f"{size} chunks: writing the corpus")
        export = [options.node, HERE / "export.mjs", str(size), corpus, str(options.questions)]
        subprocess.run(export, check=True)
    document = json.loads((corpus / "corpus.json").read_text())
    database = f"bench_{size}"
    loaded = build(server, size, database, corpus, document["tables"])
    return database, document, loaded


def build(server, size, database, corpus, tables):
    """Goes on where an earlier run was interrupted: after the load, or between two indexes."""
    loaded = read_state(server, database)
    if loaded is None:
        create_project(server, database)
        with server.connect("project_owner", database) as owner:
            apply_migrations(owner)
        with server.connect("postgres", database) as admin:
            log(f"{size} chunks: loading")
            started = time.perf_counter()
            definitions = load(server, database, corpus, tables)
            loaded = {
                "made_from": schema_and_corpus_hash(),
                "load_seconds": round(time.perf_counter() - started, 1),
                "definitions": definitions,
                "index_seconds": {},
                "is_complete": False,
            }
            admin.execute("create schema bench")
            admin.execute("create table bench.state as select %s::jsonb as state", [json.dumps(loaded)])
            admin.execute("checkpoint")
    if not loaded["is_complete"]:
        with server.connect("postgres", database) as admin:
            finish(admin, size, loaded)
    return {name: loaded[name] for name in ("load_seconds", "index_seconds", "count_and_vacuum_seconds")}


def finish(admin, size, loaded):
    for index, definition in loaded["definitions"]:
        if index not in loaded["index_seconds"]:
            log(f"{size} chunks: building {index}")
            started = time.perf_counter()
            with admin.transaction():
                admin.execute(definition)
                loaded["index_seconds"][index] = round(time.perf_counter() - started, 1)
                save_state(admin, loaded)
    started = time.perf_counter()
    admin.execute("select kb_recount_lexemes()")
    admin.execute("vacuum analyze")
    mismatches = admin.execute(MISMATCHES).fetchone()[0]
    if mismatches:
        raise RuntimeError(f"{mismatches} chunks were loaded with other values than the triggers would have set")
    loaded["count_and_vacuum_seconds"] = round(time.perf_counter() - started, 1)
    loaded["is_complete"] = True
    save_state(admin, loaded)
    admin.execute("checkpoint")


def save_state(admin, loaded):
    admin.execute("update bench.state set state = %s", [json.dumps(loaded)])


def load(server, database, corpus, tables):
    """Copies the rows without the triggers, which take ten times as long, with the values that these would set."""
    with server.connect("postgres", database) as admin:
        definitions = admin.execute(BUILT_AFTERWARDS).fetchall()
        for index, _ in definitions:
            admin.execute(f"drop index {index}")
    vectors = [table for table in tables if table not in TEXTS]
    with ThreadPoolExecutor() as pool:
        loads = [pool.submit(load_tables, server, database, corpus, tables, names) for names in (TEXTS, vectors)]
        for each in loads:
            each.result()
    return definitions


def load_tables(server, database, corpus, tables, names):
    with server.connect("postgres", database) as admin:
        admin.execute("set session_replication_role = replica")
        for table in names:
            with admin.transaction():
                if table not in TEXTS:
                    # A table that is emptied in the same transaction needs no write-ahead log. Emptying those of the texts would
                    # lock those of the vectors too.
                    admin.execute(f"truncate {table}")
                if table == "kb_chunks":
                    load_chunks(admin, corpus, tables[table])
                else:
                    copy(admin, corpus / f"{table}.copy", table, tables[table])


def load_chunks(admin, corpus, columns):
    admin.execute("create temporary table staged (like kb_chunks) on commit drop")
    optional = ["fts", "meta", "parts", "stale"]
    admin.execute("alter table staged " + ", ".join(f"alter {column} drop not null" for column in optional))
    copy(admin, corpus / "kb_chunks.copy", "staged", columns)
    names = ", ".join(columns)
    admin.execute(f"""
        insert into kb_chunks ({names}, fts)
        select {names}, internal.kb_chunk_fts(language, internal.kb_chunk_text(content, '{{}}', '[]')) from staged""")


def copy(admin, file, table, columns):
    with admin.cursor().copy(f"copy {table} ({', '.join(columns)}) from stdin (format binary)") as target, open(file, "rb") as rows:
        while data := rows.read(1 << 20):
            target.write(data)


def read_state(server, database):
    with server.connect("postgres", "postgres") as admin:
        if admin.execute("select from pg_database where datname = %s", [database]).fetchone() is None:
            return None
    with server.connect("postgres", database) as admin:
        if admin.execute("select to_regclass('bench.state')").fetchone()[0] is None:
            return None
        state = admin.execute("select state from bench.state").fetchone()[0]
    # A search in a database of another schema or corpus would measure that one.
    return state if state.get("made_from") == schema_and_corpus_hash() else None


def schema_and_corpus_hash():
    return hash_of(MIGRATIONS.glob("*.sql")) + generator_hash()


def generator_hash():
    return hash_of(HERE / name for name in GENERATOR)


def hash_of(files):
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


def create_project(server, database):
    with server.connect("postgres", "postgres") as admin:
        admin.execute(f"drop database if exists {database}")
        admin.execute(f"create database {database}")
    with server.connect("postgres", database) as admin:
        admin.execute((HERE / "bootstrap.sql").read_text())


def apply_migrations(owner):
    for migration in sorted(MIGRATIONS.glob("*.sql")):
        with owner.transaction():
            owner.execute(migration.read_text())
    owner.execute("select chat_set_worker_secret(encode(sha256(convert_to(%s, 'UTF8')), 'hex'))", [WORKER_SECRET])


def log(message):
    print(f"  {time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)
