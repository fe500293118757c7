// The insights of a year of conversations: the functions in the database, and the page in Chromium.
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen } from "@evidence-chat/local-service";
import { createAdaptorServer } from "@hono/node-server";
import { generateKeys } from "../../supabase/local/src/keys.mjs";
import { startNativePostgres } from "../../supabase/tests/support/native-postgres.mjs";
import { openNativeSupabase } from "../../supabase/tests/support/native-supabase.mjs";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { createDemoServer } from "../../web/demo/serve.mjs";
import { timeFunctions, timeTurns } from "./functions.mjs";
import { timePage } from "./page.mjs";
import { describeYear, generateYear } from "./year.mjs";

const DATABASE = "insights";
const SETTINGS = ["shared_buffers=512MB", "maintenance_work_mem=512MB"];
const SCOPE = {
  windows: [7, 30, 90],
  /** Null for all. */
  assistants: [null, "shop"],
};
const LOGIN = { email: "administrator@example.com", password: "correct horse battery" };

/**
 * Starts a native Postgres with a local Supabase and the insights page in front of it, and measures.
 * @param {object} options
 * @param {number} options.messages questions and answers of the year
 * @param {number} options.runs calls of each function
 * @param {number} options.views how often the page shows each period
 * @param {number} options.turns turns to record, for the cost of counting
 * @param {(step: string) => void} [options.onStep]
 */
export async function measureInsights({ messages, runs, views, turns, onStep = () => {} }) {
  /** Closes what was opened, the newest last. */
  const closers = [];
  const onClose = (close) => closers.push(close);
  try {
    const postgres = await startNativePostgres(SETTINGS);
    onClose(() => postgres.stop());
    const { url, keys } = await startSupabase(postgres, onClose);
    const session = await postgres.connect("postgres", DATABASE);
    onClose(() => session.close());
    const administrator = await signUp(url, keys.publishable_key);
    await session.query("update chat_settings set administrators = array['sub:' || $1::text]", [administrator]);
    const secretHash = createHash("sha256").update(keys.worker_secret).digest("hex");
    await session.query("select chat_set_worker_secret($1)", [secretHash]);

    onStep(`generating ${messages} messages`);
    const seconds = await generateYear(session, messages);
    const described = await describeYear(session);
    const { rows } = await session.query("select version()");
    onStep(`the functions, after ${seconds} s`);
    const functions = await timeFunctions(session, { ...SCOPE, administrator, runs });
    const recorded = await timeTurns(session, { administrator, workerSecret: keys.worker_secret, turns });
    onStep("the page");
    const origin = await startSite(url, keys.publishable_key, onClose);
    const browser = await openBrowser();
    onClose(() => browser.close());
    const page = await timePage(browser.page, { ...SCOPE, ...LOGIN, origin, runs: views });
    if (browser.page.errors.length > 0) throw new Error(browser.page.errors.join("\n"));
    return { database: rows[0].version, ...described, load_seconds: seconds, views: functions, turns: recorded, page };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function startSupabase(postgres, onClose) {
  const storageDir = await mkdtemp(join(tmpdir(), "insights-bench-"));
  onClose(() => rm(storageDir, { recursive: true, force: true }));
  const keys = await generateKeys();
  const supabase = await openNativeSupabase(postgres, DATABASE, { keys, storageDir });
  onClose(() => supabase.close());
  const url = await serve(createAdaptorServer({ fetch: supabase.fetch }), onClose);
  return { url, keys };
}

/** The page under its policy, as the Worker serves it. */
const startSite = (supabase, key, onClose) =>
  serve(createDemoServer({ SUPABASE_URL: supabase, SUPABASE_PUBLISHABLE_KEY: key }), onClose);

async function serve(server, onClose) {
  const url = await listen(server, 0);
  onClose(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}

async function signUp(url, key) {
  const response = await fetch(`${url}/auth/v1/signup`, {
    method: "POST",
    headers: { apikey: key, "content-type": "application/json" },
    body: JSON.stringify(LOGIN),
  });
  if (!response.ok) throw new Error(`the sign-up failed: ${response.status} ${await response.text()}`);
  return (await response.json()).user.id;
}
