// The passages that the stand-in of the chat quotes: the text of the pages, as readers see it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import { addressOf, fileOf, GROUPS } from "../site-map.mjs";
import { FOR_CONTRIBUTORS } from "./index.mjs";

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
/** Characters after which a passage ends with its block. */
const ENOUGH = 900;

/** @returns {Promise<import("../.vitepress/theme/chat/search.mjs").Passage[]>} */
export async function passagesOf(/** @type {string} */ folder) {
  const pages = GROUPS.flatMap((group) => group.pages).filter(({ source }) => source && !FOR_CONTRIBUTORS.has(source));
  const texts = await Promise.all(pages.map(({ route }) => readFile(join(folder, fileOf(route)), "utf8")));
  return pages.flatMap((page, index) => passagesOfPage(page, texts[index]));
}

function passagesOfPage({ route, title }, markdown) {
  const tree = fromMarkdown(markdown.replace(/^---\n[\s\S]*?\n---\n/, ""), {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  const passages = [];
  const trail = [];
  let anchor = "";
  let isComplete = true;
  const begin = () => {
    const section = trail.slice(1).filter(Boolean).join(" › ");
    passages.push({ title, section, path: addressOf(route) + anchor, text: "", sentences: [] });
  };
  for (const node of tree.children) {
    if (node.type === "heading") {
      const [, words, slug] = /^(.*?)\s*(?:%\{#(.*)\}%)?$/.exec(textOf(node)) ?? [];
      trail.length = node.depth - 1;
      trail[node.depth - 1] = words;
      anchor = node.depth > 1 && slug ? `#${slug}` : "";
      isComplete = true;
      continue;
    }
    for (const sentences of blocksOf(node)) {
      if (isComplete) begin();
      addBlock(passages.at(-1), sentences);
      isComplete = passages.at(-1).text.length > ENOUGH;
    }
  }
  return passages.filter(({ sentences }) => sentences.length > 0);
}

function addBlock(passage, sentences) {
  if (passage.text !== "") passage.text += "\n";
  for (const sentence of sentences) {
    if (passage.text !== "" && !passage.text.endsWith("\n")) passage.text += " ";
    const start = passage.text.length;
    passage.text += sentence;
    if (/\p{L}{2}/u.test(sentence)) passage.sentences.push([start, passage.text.length]);
  }
}

/** The sentences of each paragraph, item and row below a node. Code blocks are not quoted. */
function blocksOf(node) {
  if (node.type === "paragraph") return [sentencesOf(textOf(node))];
  if (node.type === "table") {
    return node.children.slice(1).map((row) => {
      const cells = row.children.map(textOf).filter((text) => text.trim() !== "");
      return cells.length > 0 ? [oneLine(cells.join(": "))] : [];
    });
  }
  if (node.type === "code" || node.type === "html") return [];
  return (node.children ?? []).flatMap(blocksOf);
}

const sentencesOf = (text) =>
  [...SENTENCES.segment(oneLine(text))].map(({ segment }) => segment.trim()).filter((segment) => segment !== "");

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

function textOf(node) {
  if (node.type === "html" || node.type === "image") return "";
  if (node.type === "break") return " ";
  return node.value ?? (node.children ?? []).map(textOf).join("");
}
