// Runs the built Worker on this machine, in the same runtime Cloudflare uses, as a local service (see local/service.mjs).
// Environment: PORT (default 8787), DATA_DIR (keeps the Durable Objects; without it they end with the process), WORKER_BUILD_DIR
// (the built Worker; default edge-chat/build), ASSETS_DIR (the folder of the static files; default edge-chat/assets, if it is
// built), and the Worker's own variables.
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runService } from "../service.mjs";
import { ASSETS_DIR, startWorker } from "./worker.mjs";

/** @type {NodeJS.Signals[]} */
const SIGNALS = ["SIGINT", "SIGTERM"];
const ENTRY = fileURLToPath(new URL("own-host-worker.mjs", import.meta.url));

await runService({ defaultPort: 8787, serve });

async function serve(port, ready) {
  const worker = await withoutNewSignalListeners(() =>
    startWorker({
      port,
      entry: ENTRY,
      variables: process.env,
      assets: process.env.ASSETS_DIR ?? (existsSync(ASSETS_DIR) ? ASSETS_DIR : undefined),
      persistDir: process.env.DATA_DIR ? path.resolve(process.env.DATA_DIR, "worker") : undefined,
    }),
  );
  try {
    await ready(worker.url);
  } finally {
    await worker.close();
  }
}

/** Miniflare exits with an error code on signals. A local service closes first and exits with 0. */
async function withoutNewSignalListeners(start) {
  const known = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)));
  const started = await start();
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) if (!known.has(listener)) process.off(signal, listener);
  }
  return started;
}
