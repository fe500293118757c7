// The demo page as Vite builds it, behind its own server. Supabase Auth and the widget are fakes: the widget records its calls
// and dispatches the events of a test.
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "../../../../tests/lib/browser.mjs";
import { buildDemo } from "../../../demo/build.mjs";
import { createDemoServer } from "../../../demo/serve.mjs";

export const LOGIN = { email: "demo@example.com", password: "correct-password" };

const WIDGET = `
class StandIn extends HTMLElement {
  calls = [];
  ask(question) { this.calls.push(["ask", question]); return Promise.resolve(); }
  open() { this.calls.push(["open"]); }
  clear() { this.calls.push(["clear"]); }
}
customElements.define("evidence-chat", StandIn);
`;

/**
 * Builds and serves the page and opens a browser; `close` stops everything.
 * @param {{ widget?: string, browserOptions?: object }} [options]
 */
export async function openDemo({ widget = WIDGET, browserOptions } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "demo-page-"));
  await buildDemo({ outDir: join(folder, "demo") });
  await writeFile(join(folder, "evidence-chat.js"), widget);
  const supabase = await listen(createServer((request, response) => void answerSignIn(request, response)));
  const settings = {
    CHAT_ENDPOINT: `${supabase.origin}/api/chat`,
    SUPABASE_URL: supabase.origin,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_test",
    DEMO_EMAIL: LOGIN.email,
    DEMO_PASSWORD: LOGIN.password,
  };
  const site = await listen(createDemoServer(settings, folder));
  const browser = await openBrowser(browserOptions);
  return {
    page: browser.page,
    origin: site.origin,
    async close() {
      await browser.close();
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

async function listen(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
