// A project in a clean folder that has the packed packages and its framework from the registry.
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { serve } from "../lib/static-server.mjs";

const NPM = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
/** Long enough for a framework that builds on first request; in milliseconds. */
const START_TIMEOUT = 120_000;
const ENVIRONMENT = {
  ...process.env,
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
};

/** Packs the packages of these folders into `folder` and returns the tarballs by the packages' names. */
export async function pack(folders, folder) {
  const tarballs = {};
  for (const each of folders) {
    const { name } = JSON.parse(await readFile(join(each, "package.json"), "utf8"));
    const args = ["pack", "--ignore-scripts", "--pack-destination", folder, each];
    const { stdout } = await promisify(execFile)("npm", [...args, "--loglevel=error"], { cwd: folder });
    tarballs[name] = join(folder, stdout.trim().split("\n").at(-1) ?? "");
  }
  return tarballs;
}

export class Project {
  /** @param {string} folder where the project is, or will be */
  constructor(folder) {
    this.folder = folder;
  }

  /**
   * Copies an example and gives its manifest these versions and the tarballs instead of published versions.
   * @param {string} source
   * @param {Record<string, string>} tarballs
   * @param {Record<string, string>} [versions]
   */
  async copy(source, tarballs, versions = {}) {
    await cp(source, this.folder, {
      recursive: true,
      filter: (path) => !/node_modules|\.next|\.nuxt|\.svelte-kit/.test(path),
    });
    await this.depend(tarballs, versions);
  }

  /** Adds the tarballs and versions to the dependencies, for the packages that the project's packages depend on, too. */
  async depend(tarballs, versions = {}) {
    const path = join(this.folder, "package.json");
    const manifest = JSON.parse(await readFile(path, "utf8"));
    const files = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]));
    const others = Object.fromEntries(Object.entries(manifest.dependencies ?? {}).filter(([name]) => !(name in files)));
    manifest.dependencies = { ...others, ...files, ...versions };
    await writeFile(path, JSON.stringify(manifest, null, 2));
  }

  async write(files) {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(this.folder, name, ".."), { recursive: true });
      await writeFile(join(this.folder, name), text);
    }
  }

  async install() {
    await this.run("npm", ["install", ...NPM]);
  }

  async build() {
    await this.run("npm", ["run", "build"]);
  }

  /** Runs a program in the project and returns what it prints; its output is part of the error if it fails. */
  async run(program, args) {
    const options = { cwd: this.folder, maxBuffer: 1e8, env: ENVIRONMENT };
    try {
      return (await promisify(execFile)(program, args, options)).stdout;
    } catch (error) {
      const { stdout = "", stderr = "" } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
      throw new Error(`${program} ${args.join(" ")} failed:\n${`${stdout}\n${stderr}`.trim().slice(-3000)}`, {
        cause: error,
      });
    }
  }

  /** Serves a folder of the built project. */
  async serveFolder(name) {
    return serve(join(this.folder, name), { "cache-control": "no-store" });
  }

  /** Runs the project's own server on a free port of 127.0.0.1. `command` gets the port. */
  async serveCommand(command) {
    const port = await freePort();
    const [program = "", ...args] = command(String(port));
    const env = { ...ENVIRONMENT, HOST: "127.0.0.1", NITRO_HOST: "127.0.0.1", PORT: String(port) };
    const child = spawn(program, args, { cwd: this.folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    const close = async () => {
      // The program may have started others.
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    };
    const origin = `http://127.0.0.1:${port}`;
    for (const end = Date.now() + START_TIMEOUT; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
      if (
        await fetch(origin).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return { origin, close };
      if (child.exitCode !== null || Date.now() > end) {
        await close();
        throw new Error(`${program} ${args.join(" ")} does not serve:\n${output.slice(-3000)}`);
      }
    }
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}
