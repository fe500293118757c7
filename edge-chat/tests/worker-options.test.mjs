// The local Worker has the settings of wrangler.toml.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { WORKER_OPTIONS } from "../../local/worker/worker.mjs";

// Disables telemetry. Read when wrangler loads.
process.env.WRANGLER_SEND_METRICS = "false";
const { unstable_getMiniflareWorkerOptions: optionsOf } = await import("wrangler");

/** Options that the local Worker sets itself. */
const OWN = ["rootPath", "modulesRules", "bindings"];
const CONFIG = fileURLToPath(new URL("../../wrangler.toml", import.meta.url));

test("the local Worker has the bindings, limits and static files of wrangler.toml, and wrangler.toml has no others", () => {
  // Without a folder wrangler leaves the static files out.
  const overrides = { assets: { directory: path.dirname(CONFIG) } };
  // Through JSON, which has no undefined fields.
  const answer = JSON.stringify(optionsOf(CONFIG, "", { overrides }).workerOptions);
  const { assets, ...options } = JSON.parse(answer);
  const { directory: _directory, ...staticFiles } = assets;
  const isSet = (value) => (typeof value === "object" && value !== null ? Object.values(value).some(isSet) : true);
  const found = Object.entries(options).filter(([name, value]) => !OWN.includes(name) && isSet(value));
  assert.deepEqual({ ...Object.fromEntries(found), assets: staticFiles }, WORKER_OPTIONS);
});
