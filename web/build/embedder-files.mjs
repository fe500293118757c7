// The embedder's worker and WebAssembly, under names with a hash: a browser keeps such files for good, so that a later visit needs
// no connection for them, and never mixes those of two versions.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { parse } from "node:path";

const FILES = ["worker.js", "embedder_bg.wasm", "embedder_relaxed_bg.wasm"];

/**
 * The name of each file in the widget.
 * @param {string} folder of the embedder's build
 * @returns {Promise<Map<string, string>>}
 */
export async function hashedNames(folder) {
  const names = new Map();
  for (const file of FILES) {
    const { name, ext } = parse(file);
    const hash = createHash("sha256")
      .update(await readFile(`${folder}/${file}`))
      .digest("hex");
    names.set(file, `${name}-${hash.slice(0, 8)}${ext}`);
  }
  return names;
}

/** Writes the files to a folder, also the source map of the worker. */
export async function writeHashed(from, to, names) {
  for (const [file, name] of names) {
    const content = await readFile(`${from}/${file}`);
    const isScript = file.endsWith(".js");
    await writeFile(`${to}/${name}`, isScript ? linked(content.toString(), file, names) : content);
    if (isScript) await writeFile(`${to}/${name}.map`, await readFile(`${from}/${file}.map`));
  }
}

/** A script that names its source map and, as a default that the embedder never uses but bundlers resolve, WebAssembly. */
function linked(text, script, names) {
  let result = text.replace(`sourceMappingURL=${script}`, `sourceMappingURL=${names.get(script)}`);
  for (const [file, name] of names) {
    result = result.replaceAll(`new URL("${file}",import.meta.url)`, `new URL("${name}",import.meta.url)`);
  }
  return result;
}

/**
 * Makes a bundle of the embedder load the files by these names.
 * @param {string} text of the embedder's `index.js`
 */
export function withHashedNames(text, names) {
  let result = text;
  for (const [file, name] of names) {
    const url = `new URL("./${file}",import.meta.url)`;
    if (!result.includes(url)) throw new Error(`the embedder has no ${url}`);
    result = result.replaceAll(url, `new URL("./${name}",import.meta.url)`);
  }
  return result;
}
