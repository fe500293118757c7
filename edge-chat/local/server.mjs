// Runs the built Worker on this machine, in the same runtime Cloudflare uses. Environment: PORT (default 8787, 0 picks
// a free one), DATA_DIR (keeps the Durable Objects; without it they live in memory), and the Worker's own variables,
// which win over wrangler.toml. Prints "ready http://127.0.0.1:PORT" once it answers; ends with its parent, on SIGTERM
// and SIGINT.
import path from "node:path";
import { StartupError } from "./src/startup-error.mjs";
import { untilStopped } from "./src/until-stopped.mjs";
import { startWorker } from "./src/worker.mjs";

const DEFAULT_PORT = 8787;

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exit(1);
}

async function main() {
  const stopped = untilStopped();
  const worker = await startWorker({
    port: readPort(process.env.PORT),
    variables: process.env,
    persistDir: process.env.DATA_DIR ? path.resolve(process.env.DATA_DIR, "worker") : undefined,
  });
  try {
    console.log(`ready ${worker.url}`);
    await stopped;
  } finally {
    await worker.close();
  }
}

function readPort(text) {
  if (!text) return DEFAULT_PORT;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new StartupError("PORT must be a whole number from 0 to 65535.");
  }
  return port;
}
