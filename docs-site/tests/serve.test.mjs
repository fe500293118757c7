// The site with a chat server, as `cargo xtask demo --docs` serves it.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { listen } from "../../tests/lib/listen.mjs";
import { createDocsServer } from "../serve.mjs";

const STACK = {
  CHAT_ENDPOINT: "http://127.0.0.1:8787/api/chat",
  SUPABASE_URL: "http://127.0.0.1:54321",
  SUPABASE_PUBLISHABLE_KEY: "sb_publishable_1",
  DEMO_EMAIL: "demo@example.com",
  DEMO_PASSWORD: "secret",
};

async function serve(t, settings) {
  const dist = await mkdtemp(join(tmpdir(), "evidence-chat-docs-"));
  await writeFile(join(dist, "index.html"), "<h1>Start</h1>");
  await writeFile(join(dist, "chat.json"), "{}");
  const site = await listen(createDocsServer(settings, dist));
  t.after(async () => {
    await site.close();
    await rm(dist, { recursive: true });
  });
  return (path, init) => fetch(`${site.origin}${path}`, init);
}

test("with a chat server, chat.json names its widget and where visitors sign in, but no password", async (t) => {
  const get = await serve(t, STACK);
  assert.equal(await (await get("/")).text(), "<h1>Start</h1>");
  assert.deepEqual(await (await get("/chat.json")).json(), {
    script: "http://127.0.0.1:8787/evidence-chat.js",
    "supabase-url": STACK.SUPABASE_URL,
    "supabase-key": STACK.SUPABASE_PUBLISHABLE_KEY,
  });
});

test("without a chat server, chat.json is that of the site", async (t) => {
  const get = await serve(t, {});
  assert.deepEqual(await (await get("/chat.json")).json(), {});
});

test("files outside of the site, and other methods, are refused", async (t) => {
  const get = await serve(t, STACK);
  for (const path of ["/..%2f..%2fetc%2fpasswd.html", "/%2e%2e/package.json", "/.vitepress/config.mjs", "/%zz.html"]) {
    assert.equal((await get(path)).status, 404, path);
  }
  assert.equal((await get("/", { method: "POST" })).status, 405);
});
