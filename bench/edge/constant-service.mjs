// Runs constant-worker.mjs as edge-chat/local/server.mjs runs the Worker, with the same environment.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runService } from "@evidence-chat/local-service";
import { startWorker } from "../../edge-chat/local/src/worker.mjs";
import { setting } from "./lib/settings.mjs";

const ENTRY = fileURLToPath(new URL("./constant-worker.mjs", import.meta.url));

await runService({ serve });

async function serve(port, ready) {
  const persistDir = path.resolve(setting("DATA_DIR"), "worker");
  const worker = await startWorker({ port, variables: process.env, persistDir, entry: ENTRY });
  try {
    await ready(worker.url);
  } finally {
    await worker.close();
  }
}
