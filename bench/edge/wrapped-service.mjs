// Runs the module that ENTRY names in place of the Worker's entry point, as local/worker/server.mjs runs the Worker, with the same
// environment.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runService } from "../../local/service.mjs";
import { startWorker } from "../../local/worker/worker.mjs";
import { setting } from "./lib/settings.mjs";

await runService({ serve });

async function serve(port, ready) {
  const entry = fileURLToPath(new URL(setting("ENTRY"), import.meta.url));
  const persistDir = path.resolve(setting("DATA_DIR"), "worker");
  const worker = await startWorker({ port, variables: process.env, persistDir, entry });
  try {
    await ready(worker.url);
  } finally {
    await worker.close();
  }
}
