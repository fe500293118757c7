// Builds the documentation site into `dist`: `node docs-site/build.mjs`. Environment:
//   DOCS_URL       address of the site, for its sitemap and the sources of answers; default: that of `cargo xtask demo --docs`
//   DOCS_BASE      path of the site on its host; default: /
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { openapiPage } from "./openapi.mjs";
import { addressOf, GROUPS, HTTP_PAGE, PAGES, REPOSITORY } from "./pages.mjs";

const SITE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = join(SITE, "..");
/** What VitePress reads: the pages at their paths in the repository, with their pictures. */
const SOURCE = join(ROOT, "target/docs/pages");
/** What `kb sync` reads: the pages with their addresses. */
const FOR_KB = join(ROOT, "target/docs/kb");
/** Pages that answer no question of a user. */
const NOT_FOR_KB = new Set(["docs/index.md", "docs/contracts.md", "docs/decisions.md", "docs/release.md", HTTP_PAGE]);
const ADDRESS = process.env.DOCS_URL ?? "http://127.0.0.1:5173/";

for (const folder of [SOURCE, FOR_KB, join(SITE, "dist")]) await rm(folder, { recursive: true, force: true });
for (const page of PAGES) await prepare(page);
await cp(join(SITE, "public"), join(SOURCE, "public"), { recursive: true });
await write(join(SOURCE, "public/llms.txt"), llmsTxt());
await build(SITE);

async function prepare(/** @type {string} */ page) {
  const text =
    page === HTTP_PAGE
      ? openapiPage(await readFile(join(ROOT, "docs/openapi.yaml"), "utf8"))
      : await readFile(join(ROOT, page), "utf8");
  await write(join(SOURCE, page), text);
  for (const [, picture] of text.matchAll(/!\[[^\]]*\]\(([^):]+)\)/g)) {
    const path = posix.join(posix.dirname(page), picture);
    await cp(join(ROOT, path), join(SOURCE, path));
  }
  if (NOT_FOR_KB.has(page)) return;
  // The visitors of the site have no account.
  const head = { url: new URL(addressOf(page), ADDRESS).href, audience: "role:authenticated" };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  await write(join(FOR_KB, page), `---\n${lines.join("")}---\n\n${text}`);
}

/** The pages for language models (https://llmstxt.org), as Markdown. */
function llmsTxt() {
  const groups = Object.entries(GROUPS).map(([group, pages]) => {
    const links = Object.entries(pages)
      .filter(([, file]) => PAGES.has(file) && file !== HTTP_PAGE)
      .map(([title, file]) => `- [${title}](${REPOSITORY}/raw/main/${file})`);
    return `## ${group}\n\n${links.join("\n")}\n`;
  });
  return [
    "# Evidence Chat\n",
    "> A chat widget for a site that answers from the site's documents, with citations. By default, every sentence of an answer is a verbatim",
    "> quote. It runs on one Cloudflare Worker and the owner's Supabase project, without a model server.\n",
    ...groups,
  ].join("\n");
}

async function write(/** @type {string} */ file, /** @type {string} */ text) {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
