// Runs the built Worker on this machine, in the same runtime Cloudflare uses, as a local service (see local-service/).
// Environment: PORT (default 8787), DATA_DIR (keeps the Durable Objects; without it they live in memory), and the
// Worker's own variables, which win over wrangler.toml.
import path from "node:path";
import { runService } from "@evidence-chat/local-service";
import { startWorker } from "./src/worker.mjs";

await runService({ defaultPort: 8787, serve });

async function serve(port, ready) {
  const worker = await startWorker({
    port,
    variables: process.env,
    persistDir: process.env.DATA_DIR ? path.resolve(process.env.DATA_DIR, "worker") : undefined,
  });
  try {
    await ready(worker.url);
  } finally {
    await worker.close();
  }
}
