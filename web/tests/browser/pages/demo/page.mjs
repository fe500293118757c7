// The demo page as Vite builds it, behind its own server. Supabase Auth and the widget are fakes: the widget records its calls
// and dispatches the events of a test.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen } from "../../../../../tests/lib/listen.mjs";
import { createDemoServer } from "../../../../demo/serve.mjs";
import { buildPage } from "../../../../pages/build.mjs";

export const LOGIN = { email: "demo@example.com", password: "correct-password" };

const FAKE_WIDGET = `
class FakeWidget extends HTMLElement {
  calls = [];
  ask(question) { this.calls.push(["ask", question]); return Promise.resolve(); }
  open() { this.calls.push(["open"]); }
  clear() { this.calls.push(["clear"]); }
}
customElements.define("evidence-chat", FakeWidget);
`;

/**
 * Builds and serves the page; `widget` is the script that the page loads as the widget.
 * @param {{ widget?: string }} [options]
 */
export async function startDemoSite({ widget = FAKE_WIDGET } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "demo-page-"));
  await buildPage("demo", join(folder, "demo"));
  await writeFile(join(folder, "evidence-chat.js"), widget);
  const supabase = await listen(answerSignIn);
  const settings = {
    CHAT_ENDPOINT: `${supabase.origin}/api/chat`,
    SUPABASE_URL: supabase.origin,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_test",
    DEMO_EMAIL: LOGIN.email,
    DEMO_PASSWORD: LOGIN.password,
  };
  const site = await listen(createDemoServer(settings, folder));
  return {
    origin: site.origin,
    async close() {
      await Promise.all([site.close(), supabase.close()]);
      await rm(folder, { recursive: true });
    },
  };
}

/** Signs in with the login that the page has filled in. */
export async function signIn(page, origin) {
  await page.goto(origin);
  await page.locator("body[data-view=sign-in]").waitFor();
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
}

/** Dispatches an event of the widget. */
export async function emit(page, type, detail) {
  await page.evaluate(
    ([type, detail]) => document.querySelector("evidence-chat").dispatchEvent(new CustomEvent(type, { detail })),
    [type, detail],
  );
}

/** The page's calls of the widget, the oldest first. */
export function callsOf(page) {
  return page.evaluate(() => {
    /** @type {Element} */
    const element = document.querySelector("evidence-chat");
    const widget = /** @type {Element & { calls: unknown[] }} */ (element);
    return widget.calls;
  });
}

/** A fake of the part of Supabase Auth that the page calls. */
async function answerSignIn(request, response) {
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-allow-headers", "*");
  response.setHeader("content-type", "application/json");
  if (request.method === "OPTIONS" || request.url.startsWith("/auth/v1/logout")) {
    response.writeHead(204).end();
    return;
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  const { email, password } = JSON.parse(body);
  if (request.url.startsWith("/auth/v1/token") && password !== LOGIN.password) {
    response.writeHead(400).end(JSON.stringify({ code: 400, error_code: "invalid_credentials", msg: "Invalid login" }));
    return;
  }
  const user = { id: email, aud: "authenticated", role: "authenticated", email, app_metadata: {}, user_metadata: {} };
  const token = { access_token: "a.b.c", token_type: "bearer", expires_in: 3600, refresh_token: "again" };
  response.writeHead(200).end(JSON.stringify({ ...token, expires_at: Math.floor(Date.now() / 1000) + 3600, user }));
}
