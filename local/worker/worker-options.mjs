import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const WRANGLER = require.resolve("wrangler/package.json");
const CACHE = path.join(path.dirname(WRANGLER), "../.cache/evidence-chat");
/** What wrangler reads besides its configuration. */
const SECRETS = [".dev.vars", ".env", ".env.local"];

/**
 * What Miniflare needs to know of a wrangler configuration: a part of its options. wrangler takes more than a second of processor time
 * to load, so its answer is kept in `folder` until the configuration, wrangler or this module changes. An answer that may contain
 * secrets is not kept.
 * @param {string} config the path of the configuration
 */
export function readWorkerOptions(config, folder = CACHE) {
  if (SECRETS.some((name) => existsSync(path.join(path.dirname(config), name)))) return askWrangler(config);
  const hash = createHash("sha256").update(config);
  for (const file of [config, WRANGLER, fileURLToPath(import.meta.url)]) hash.update(readFileSync(file));
  const file = path.join(folder, `worker-options-${hash.digest("hex").slice(0, 16)}.json`);
  try {
    const kept = JSON.parse(readFileSync(file, "utf8"));
    if (kept.durableObjects && kept.ratelimits) return kept;
  } catch {
    // Missing or damaged: asked again.
  }
  const options = askWrangler(config);
  keep(options, file);
  return options;
}

/** Where this user may not write, the next start asks again. */
function keep(options, file) {
  const partial = `${file}.${randomUUID()}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(partial, JSON.stringify(options));
    renameSync(partial, file);
  } catch {
    if (existsSync(partial)) rmSync(partial);
  }
}

function askWrangler(config) {
  // Disables telemetry. Read when the package loads.
  process.env.WRANGLER_SEND_METRICS ??= "false";
  /** @type {typeof import("wrangler")} */
  const { unstable_getMiniflareWorkerOptions: optionsOf } = require("wrangler");
  // Without a folder wrangler leaves the static files out; it need not be the right one.
  const overrides = { assets: { directory: path.dirname(config) } };
  // The top level, whatever CLOUDFLARE_ENV says.
  return optionsOf(config, "", { overrides }).workerOptions;
}
