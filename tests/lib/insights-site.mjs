// The insights page under its policy, with a local Supabase in this process and an administrator.
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { generateKeys } from "../../local/supabase/keys.mjs";
import { openSupabase } from "../../local/supabase/supabase.mjs";
import { createDemoServer } from "../../web/demo/serve.mjs";
import { listen } from "./listen.mjs";
import { sendSignIn } from "./sign-in.mjs";

const PASSWORD = "correct horse battery";

/**
 * Starts it.
 * @param {(options: Parameters<typeof openSupabase>[0]) => ReturnType<typeof openSupabase>} [open] opens the Supabase
 */
export async function startInsightsSite(open = openSupabase) {
  const storageDir = await mkdtemp(join(tmpdir(), "evidence-chat-insights-"));
  const keys = await generateKeys();
  const supabase = await open({ keys, storageDir });
  const api = await listen(createAdaptorServer({ fetch: supabase.fetch }));
  const page = await listen(
    createDemoServer({ SUPABASE_URL: api.origin, SUPABASE_PUBLISHABLE_KEY: keys.publishable_key }),
  );
  const signUp = async (email) => {
    const response = await fetch(`${api.origin}/auth/v1/signup`, {
      method: "POST",
      headers: { apikey: keys.publishable_key, "content-type": "application/json" },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    if (!response.ok) throw new Error(`the sign-up failed: ${response.status} ${await response.text()}`);
    return { email, password: PASSWORD, id: (await response.json()).user.id };
  };
  const administrator = await signUp("admin@example.com");
  const secretHash = createHash("sha256").update(keys.worker_secret).digest("hex");
  await supabase.database.query("select chat_set_worker_secret($1)", [secretHash]);
  await supabase.database.query("update chat_settings set administrators = array[$1]", [`sub:${administrator.id}`]);
  return {
    origin: page.origin,
    database: supabase.database,
    workerSecret: keys.worker_secret,
    administrator,
    signUp,
    async close() {
      await page.close();
      await api.close();
      await supabase.close();
      await rm(storageDir, { recursive: true, force: true });
    },
  };
}

/**
 * Opens the page and signs in.
 * @param {import("playwright-core").Page} page
 * @param {{ origin: string }} site
 * @param {{ email: string, password: string }} user
 */
export async function signInToInsights(page, { origin }, { email, password }) {
  await page.goto(`${origin}/insights/`);
  await sendSignIn(page, email, password);
}
