// The example of a framework, built by Vite against the packed widget and opened in a browser. The chat server is a fake.
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
const INSTALLED = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** @type {[type: string, data: object][]} */
const ANSWER = [
  ["answer_start", { session_id: "11111111-1111-4111-8111-111111111111" }],
  ["answer_delta", { text: "A refund takes five days. [1]" }],
  ["sources", { citations: ["Refunds", "Handbook"].map(citation), referenced_indices: [1] }],
  ["answer_end", { message_id: "22222222-2222-4222-8222-222222222222", persisted: true }],
];

function citation(title, index) {
  const text = "A refund takes five days.";
  const quotes = [{ start: 0, end: text.length, text }];
  return {
    index: index + 1,
    chunk_id: `c${index}`,
    document_id: `d${index}`,
    title,
    score: 0.8,
    excerpt: text,
    quotes,
  };
}

/** Builds the example `name` with these packages and opens it with `token` as the visitor's token. */
export async function openExample(name, packages, token) {
  const consumer = await createConsumer([EMBEDDER, WIDGET]);
  const root = consumer.path(name);
  await cp(join(EXAMPLES, name), root, { recursive: true });
  for (const dependency of packages) {
    const link = consumer.path("node_modules", dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(INSTALLED, dependency), link);
  }
  await build({ root, logLevel: "error" });
  const server = await serve(join(root, "dist"));
  const { page, close } = await openBrowser();
  const asked = [];
  await page.route("**/api/chat", (route) => {
    asked.push(route.request());
    const events = ANSWER.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    return route.fulfill({ contentType: "text/event-stream", body: events.join("") });
  });
  await page.addInitScript((value) => sessionStorage.setItem("access-token", value), token);
  await page.goto(server.origin);
  return {
    page,
    /** Questions that reached the chat server. */
    asked,
    /** Names of the files that Vite made. */
    files: await readdir(join(root, "dist/assets")),
    async close() {
      await close();
      await server.close();
      await consumer.remove();
    },
  };
}
