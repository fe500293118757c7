// Tests the built Worker against docs/openapi.yaml with Schemathesis 4 (`pip install "schemathesis>=4,<5"`).
//
//     node edge-chat/tests/schemathesis.mjs [ARGUMENTS OF SCHEMATHESIS]
//
// SCHEMATHESIS is the program, if it is not on PATH. Runs all checks with 100 examples per operation, without rate limits.
// `schemathesis.toml` and `schemathesis_hooks.py` contain what the description cannot express, with reasons.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startWorker } from "../../local/worker/worker.mjs";
import { DOCUMENT_ID, startUpstream } from "./support/upstream.mjs";
import { send } from "./support/client.mjs";
import { accessToken, ISSUER, JWT_SECRET } from "./support/tokens.mjs";
import { ORIGIN, WORKER_SECRET } from "./support/worker.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const LIMITS = ["REQUEST_LIMIT"];
const user = crypto.randomUUID();

const upstream = await startUpstream();
upstream.settings.link_mode = "authenticated";
const sessions = Array.from({ length: 300 }, () => upstream.history.addSession(user));
for (const session of sessions) upstream.history.addMessage(session);
// The data must survive calls of the route that deletes all of them.
upstream.behave(user, { "rpc/chat_delete_user_data": () => ({ status: 204 }) });
upstream.history.addRefusal(user);
const worker = await startWorker({
  without: LIMITS,
  variables: {
    SUPABASE_URL: upstream.url,
    SUPABASE_PUBLISHABLE_KEY: "publishable-key",
    SUPABASE_JWT_SECRET: JWT_SECRET,
    SUPABASE_JWT_ISSUER: ISSUER,
    CHAT_WORKER_SECRET: WORKER_SECRET,
    CHAT_ALLOWED_ORIGINS: ORIGIN,
    CHAT_RATE_LIMIT: "10000",
  },
  onLog: () => {},
});
const program = process.env.SCHEMATHESIS ?? "schemathesis";
const options = [
  "--config-file",
  here("schemathesis.toml"),
  "run",
  here("../../docs/openapi.yaml"),
  "--url",
  worker.url,
];
const page = await send(worker.url, "/api/sessions?limit=1", { user });
const env = {
  ...process.env,
  CHAT_HOOKS: here("schemathesis_hooks.py"),
  CHAT_TOKEN: accessToken(user),
  CHAT_ORIGIN: ORIGIN,
  CHAT_CURSOR: page.json.next_cursor,
  CHAT_SESSIONS: sessions.map(({ id }) => id).join(),
  CHAT_DOCUMENT: DOCUMENT_ID,
};
// Schemathesis writes files to its working directory.
const cwd = await mkdtemp(path.join(tmpdir(), "schemathesis-"));
const child = spawn(program, [...options, ...process.argv.slice(2)], { stdio: "inherit", env, cwd });
const [code] = await once(child, "exit").catch((error) => {
  console.error(`${program}: ${error.message}`);
  return [1];
});
await worker.close();
upstream.close();
await rm(cwd, { recursive: true });
process.exitCode = code ?? 1;
