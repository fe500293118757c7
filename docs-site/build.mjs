// Builds the documentation site into `dist`: `node docs-site/build.mjs`. Environment:
//   DOCS_URL       address of the site, for its sitemap and the sources of answers; default: that of `cargo xtask demo --docs`
//   DOCS_BASE      path of the site on its host; default: /
//   DOCS_CONNECT   origins that its pages may connect to, separated by spaces
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { ASSEMBLED, assemble, FOR_MODELS } from "./assemble/index.mjs";
import { passagesOf } from "./assemble/passages.mjs";

const SITE = fileURLToPath(new URL(".", import.meta.url));
const DIST = join(SITE, "dist");
const WIDGET = fileURLToPath(new URL("../web/dist/", import.meta.url));

/** Files of the package that the site does not use: without a chat server, no model is loaded. */
const LEFT_OUT = /\/(demo|insights|types|writer)(\/|$)|\.map$|\.safetensors(\.gz)?$/;

const started = performance.now();
await rm(DIST, { recursive: true, force: true });
await assemble(process.env.DOCS_URL ?? "http://127.0.0.1:5173/");
await mkdir(join(ASSEMBLED, "public"), { recursive: true });
await cp(join(SITE, "public"), join(ASSEMBLED, "public"), { recursive: true });
await build(SITE);
await cp(FOR_MODELS, DIST, { recursive: true });
await cp(WIDGET, join(DIST, "widget"), {
  recursive: true,
  filter: (path) => !LEFT_OUT.test(path.slice(WIDGET.length - 1)),
});
await writeFile(join(DIST, "stand-in.json"), JSON.stringify(await passagesOf(ASSEMBLED)));
// `serve.mjs` answers with the server of the local stack instead.
await writeFile(join(DIST, "chat.json"), "{}\n");
const pages = (await readFile(join(DIST, "hashmap.json"), "utf8").then(JSON.parse)) ?? {};
console.log(`${Object.keys(pages).length} pages in ${((performance.now() - started) / 1000).toFixed(1)} s`);
