// The site for language models (https://llmstxt.org): llms.txt lists the pages, each of which is also served as Markdown, and
// llms-full.txt has the text of all of them.
import { addressOf, fileOf, GROUPS } from "../site-map.mjs";
import { summaryOf } from "./markdown.mjs";

const INTRODUCTION = `# Evidence Chat

> A chat widget for a site that answers from the site's documents, with citations. By default, every sentence of an answer is a verbatim
> quote; a language model may write instead, if the owner turns it on. It runs on one Cloudflare Worker and the owner's Supabase project, without a model server.
`;

/**
 * The files for language models, by their path below the root of the site.
 * @param {ReadonlyMap<string, string>} texts Markdown of the pages by route; links between pages begin with `/`
 * @param {string} address of the site
 * @returns {Map<string, string>}
 */
export function llmsFiles(texts, address) {
  const files = new Map();
  const absolute = (/** @type {string} */ path) => new URL(path, address).href;
  const list = [];
  const full = [INTRODUCTION];
  for (const { title, pages } of GROUPS) {
    const shown = pages.filter(({ route }) => texts.has(route));
    if (shown.length === 0) continue;
    const lines = shown.map((page) => {
      const text = forReaders(texts.get(page.route) ?? "", absolute);
      files.set(fileOf(page.route), text);
      full.push(`<!-- ${absolute(addressOf(page.route))} -->\n\n${text}`);
      const summary = summaryOf(text);
      return `- [${page.title}](${absolute(fileOf(page.route))})${summary ? `: ${summary}` : ""}`;
    });
    list.push(`## ${title}\n\n${lines.join("\n")}\n`);
  }
  const whole = `The text of all pages in one file: <${absolute("llms-full.txt")}>\n`;
  files.set("llms.txt", [INTRODUCTION, whole, ...list].join("\n"));
  files.set("llms-full.txt", full.join("\n"));
  return files;
}

/** Without the anchors that VitePress reads, and with links that work outside of the site. */
function forReaders(/** @type {string} */ text, /** @type {(path: string) => string} */ absolute) {
  return text
    .replace(/ %\{#[^}]*\}%/g, "")
    .replace(/\]\(\/(?!\/)([^()\s]*)\)/g, (_, path) => `](${absolute(path)})`)
    .trimStart();
}
