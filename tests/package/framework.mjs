// The example of a framework, built by Vite against the packed widget and opened in a browser. The chat server is a fake.
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { openBrowser } from "../lib/browser.mjs";
import { answerQuestions } from "../lib/chat-stand-in.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
const INSTALLED = fileURLToPath(new URL("../../node_modules", import.meta.url));

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
  const asked = await answerQuestions(page);
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
