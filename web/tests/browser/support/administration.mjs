// What the tests of the pages for administrators share: the local Supabase, the server of the pages, users.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen } from "../../../../local/service.mjs";
import { startServer } from "../../../../supabase/tests/support/start.mjs";
import { sendSignIn } from "../../../../tests/lib/sign-in.mjs";
import { createDemoServer } from "../../../demo/serve.mjs";

export const PASSWORD = "correct horse battery";
export const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The local Supabase with its data in a temporary folder, and the server of the demo page, which also serves these pages. */
export async function startSite({ after }) {
  const folder = await mkdtemp(join(tmpdir(), "evidence-chat-"));
  const supabase = await startServer(/** @type {any} */ ({ after }), folder);
  const settings = { SUPABASE_URL: supabase.url, SUPABASE_PUBLISHABLE_KEY: supabase.keys.publishable_key };
  const server = createDemoServer(settings);
  const origin = await listen(server, 0);
  return {
    origin,
    supabase,
    async close() {
      server.closeAllConnections();
      server.close();
      supabase.child.kill("SIGTERM");
      await supabase.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Calls of the API of Supabase: with the secret key, or with the token of a user. */
export function createCaller(supabase) {
  async function call(path, body, { token = "", method = "POST", worker = false } = {}) {
    const key = token ? supabase.keys.publishable_key : supabase.keys.secret_key;
    const response = await fetch(supabase.url + path, {
      method,
      headers: {
        apikey: key,
        "content-type": "application/json",
        prefer: "return=representation",
        ...(token && { authorization: `Bearer ${token}` }),
        ...(worker && { "x-evidence-chat-worker": supabase.keys.worker_secret }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }
  const rpc = ({ token }, name, parameters, options = {}) =>
    call(`/rest/v1/rpc/${name}`, parameters, { token, ...options });
  async function signUp(email) {
    const { user, access_token: token } = await call("/auth/v1/signup", { email, password: PASSWORD });
    return { email, id: user.id, token };
  }
  return { call, rpc, signUp };
}

/** Signs in with the form of the page, and waits until the user is signed in. */
export async function signIn(page, { email }) {
  await sendSignIn(page, email, PASSWORD);
  // Only then does the tab remember the session.
  await page.locator("body:not([data-state=sign-in])").waitFor();
}

/** Asserts that axe finds nothing on the page. */
export async function assertNoViolations(page, name) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
  assert.deepEqual(violations, [], name);
}
