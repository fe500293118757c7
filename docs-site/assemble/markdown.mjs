// Reads the repository's Markdown: headings with the anchors that GitHub gives them, and links.
import { fromMarkdown } from "mdast-util-from-markdown";

/**
 * @typedef {{ depth: number, text: string, slug: string, start: number, end: number }} Heading offsets are those of its source
 * @typedef {{ kind: "link" | "image" | "definition", url: string, start: number, end: number }} Link
 */

/** @returns {{ headings: Heading[], links: Link[] }} */
export function parse(/** @type {string} */ markdown) {
  const headings = [];
  const links = [];
  const taken = new Set();
  visit(fromMarkdown(markdown), (node) => {
    const range = { start: node.position.start.offset, end: node.position.end.offset };
    if (node.type === "heading") {
      const text = textOf(node);
      headings.push({ depth: node.depth, text, slug: unused(slugOf(text), taken), ...range });
    }
    if (node.type === "link" || node.type === "image" || node.type === "definition")
      links.push({ kind: node.type, url: node.url, ...range });
  });
  return { headings, links };
}

/**
 * The text from `start` to `end`, with each link replaced by what `resolve` returns for it.
 * @param {string} markdown
 * @param {readonly Link[]} links
 * @param {(link: Link) => string} resolve
 */
export function replaceLinks(markdown, links, resolve, start = 0, end = markdown.length) {
  let result = "";
  let at = start;
  // An image inside a link comes after the link, and is within it: only the innermost target of a place is replaced at once.
  const edits = links
    .filter((link) => link.start >= start && link.end <= end)
    .map((link) => edit(markdown, link, resolve));
  for (const { from, to, text } of edits.sort((a, b) => a.from - b.from)) {
    result += markdown.slice(at, from) + text;
    at = to;
  }
  return result + markdown.slice(at, end);
}

/** Where the address of a link is written: it is the last occurrence in the link's source. */
function edit(markdown, link, resolve) {
  const from = markdown.lastIndexOf(link.url, link.end);
  if (from < link.start) throw new Error(`the address ${link.url} is written with escapes: use it as it is`);
  return { from, to: from + link.url.length, text: resolve(link) };
}

function visit(node, look) {
  look(node);
  for (const child of node.children ?? []) visit(child, look);
}

/** The first whole sentence that stands in a paragraph, on one line; empty if there is none. Tables are no paragraphs to readers. */
export function summaryOf(/** @type {string} */ markdown) {
  let summary = "";
  visit(fromMarkdown(markdown), (node) => {
    if (node.type !== "paragraph" || summary) return;
    const text = textOf(node).replace(/\s+/g, " ").trim();
    if (!text.startsWith("|")) summary = /^[^]*?[.!?](?= |$)/.exec(text)?.[0] ?? "";
  });
  return summary;
}

const textOf = (node) => node.value ?? node.alt ?? (node.children ?? []).map(textOf).join("");

/** As GitHub makes anchors: letters, digits, hyphens and underscores stay; spaces become hyphens. */
export const slugOf = (/** @type {string} */ heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");

function unused(slug, taken) {
  let candidate = slug;
  for (let count = 1; taken.has(candidate); count++) candidate = `${slug}-${count}`;
  taken.add(candidate);
  return candidate;
}
