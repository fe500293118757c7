// Packs the packages of `packages/`: `node packages/build/pack.mjs OUT [--kb TARGET=FILE …] [--only NAME …]`.
// --kb packs the program of a platform; --only packs these packages of packages/ instead of all, "none" packs none.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { PACKAGES, stagePackage, stagePlatform } from "./stage.mjs";

/** On Windows, npm is a batch file, which only a shell can run. */
const IS_WINDOWS = process.platform === "win32";
const NPM = IS_WINDOWS ? process.execPath : "npm";
const NPM_ARGS = IS_WINDOWS ? [join(dirname(process.execPath), "node_modules/npm/bin/npm-cli.js")] : [];

/**
 * Packs packages and returns the paths of the tarballs.
 * @param {string} out folder
 * @param {{ kb?: Record<string, string>, names?: string[] }} [options] `kb`: programs by the compiler's name of the platform
 */
export async function pack(out, { kb = {}, names = Object.keys(PACKAGES) } = {}) {
  await mkdir(out, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), "evidence-chat-pack-"));
  try {
    const folders = [];
    for (const [target, binary] of Object.entries(kb)) {
      folders.push(join(work, target));
      await stagePlatform(target, binary, join(work, target));
    }
    for (const name of names) {
      const folder = join(work, name.replaceAll("/", "-"));
      folders.push(folder);
      await stagePackage(/** @type {keyof typeof PACKAGES} */ (name), folder);
    }
    const tarballs = [];
    for (const folder of folders) {
      const args = ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", resolve(out), folder];
      const { stdout } = await promisify(execFile)(NPM, [...NPM_ARGS, ...args], { cwd: work });
      tarballs.push(join(resolve(out), /** @type {string} */ (stdout.trim().split("\n").at(-1))));
    }
    return tarballs;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { kb: { type: "string", multiple: true }, only: { type: "string", multiple: true } },
  });
  const [out] = positionals;
  if (!out) throw new Error("usage: pack.mjs OUT [--kb TARGET=FILE …] [--only NAME …]");
  const kb = Object.fromEntries((values.kb ?? []).map((pair) => pair.split("=")));
  const names = values.only?.filter((name) => name !== "none");
  for (const tarball of await pack(out, { kb, names })) console.log(tarball);
}
