// A project that has installed the packages from their tarballs.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The folders of the packages. */
export const EMBEDDER = fileURLToPath(new URL("../../embedder-wasm/npm", import.meta.url));
export const WRITER = fileURLToPath(new URL("../../writer/npm", import.meta.url));
export const WIDGET = fileURLToPath(new URL("../../web", import.meta.url));

const NPM = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** Packs built packages and installs the tarballs, without a registry: each after what it depends on. */
export async function createConsumer(packages = [EMBEDDER]) {
  const folder = await mkdtemp(join(tmpdir(), "evidence-chat-consumer-"));
  const npm = (...args) => promisify(execFile)("npm", [...args, ...NPM], { cwd: folder });
  const tarballs = [];
  for (const name of packages) {
    const { stdout } = await npm("pack", "--pack-destination", folder, name);
    tarballs.push(`./${stdout.trim().split("\n").at(-1)}`);
  }
  await writeFile(join(folder, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }');
  await npm("install", "--offline", ...tarballs);
  return new Consumer(folder);
}

class Consumer {
  constructor(folder) {
    this.folder = folder;
    this.installed = join(folder, "node_modules/@evidence-chat/embedder");
  }

  path(...parts) {
    return join(this.folder, ...parts);
  }

  /** Writes the files (name → text) and returns the folder they are in. */
  async write(folder, files) {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(this.path(folder), { recursive: true });
      await writeFile(this.path(folder, name), content);
    }
    return this.path(folder);
  }

  /** Copies the package's files below `folder`, as a site does that uses no bundler. */
  async copyDist(folder) {
    await cp(join(this.installed, "dist"), this.path(folder), { recursive: true });
  }

  /** Runs a program in the project and returns what it prints. */
  async node(...args) {
    return (await promisify(execFile)(process.execPath, args, { cwd: this.folder, maxBuffer: 1e7 })).stdout;
  }

  async remove() {
    await rm(this.folder, { recursive: true, force: true });
  }
}
