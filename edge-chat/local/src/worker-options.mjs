import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);

/**
 * What Miniflare needs to know of a wrangler configuration: a part of its options, without secrets. wrangler takes more than a second of
 * processor time to load, so its answer is kept beside it until the configuration or wrangler changes.
 */
export function readWorkerOptions(/** @type {string} */ config) {
  const manifest = require.resolve("wrangler/package.json");
  const hash = createHash("sha256");
  for (const part of [readFileSync(manifest), config, readFileSync(config)]) hash.update(part);
  const folder = path.join(path.dirname(manifest), "../.cache/evidence-chat");
  const file = path.join(folder, `worker-options-${hash.digest("hex").slice(0, 16)}.json`);
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Missing or damaged: written again.
  }
  const options = askWrangler(config);
  try {
    mkdirSync(folder, { recursive: true });
    // Another process may read or write it.
    const partial = `${file}.${process.pid}`;
    writeFileSync(partial, JSON.stringify(options));
    renameSync(partial, file);
  } catch {
    // Installed where this user may not write: the next start asks again.
  }
  return options;
}

function askWrangler(config) {
  // Disables telemetry. Read when the package loads.
  process.env.WRANGLER_SEND_METRICS ??= "false";
  process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
  /** @type {typeof import("wrangler")} */
  const { unstable_getMiniflareWorkerOptions: optionsOf, unstable_readConfig: read } = require("wrangler");
  const parsed = read({ config });
  // wrangler wants a folder that exists, also where there are no static files.
  const overrides = { assets: { directory: path.dirname(config) } };
  const { workerOptions } = optionsOf(parsed, undefined, { overrides });
  // Those of `.dev.vars` and `.env` may be secrets.
  return { ...workerOptions, bindings: parsed.vars };
}
