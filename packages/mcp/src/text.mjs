/** @import { Citation, FoundPassage } from "@evidence-chat/widget/client" */

/**
 * Where a passage is: document, section, page and address, in one line.
 * @param {Pick<FoundPassage, "title" | "section" | "page" | "url">} passage
 */
export function place({ title, section, page, url }) {
  const parts = [title, ...(section && section !== title ? [section] : []), ...(page ? [`page ${page}`] : [])];
  return escape(oneLine(parts.join(", "))) + (url ? ` <${url}>` : "");
}

/**
 * The words of a passage that the answer uses, each on a line of its own, in a fence.
 * @param {Pick<Citation, "quotes"> & Partial<Pick<Citation, "supports">>} citation
 */
export function quotation({ quotes, supports = [] }) {
  const texts = new Set([
    ...quotes.map(({ whole, plain, text }) => whole ?? plain ?? text),
    ...supports.map(({ text }) => text),
  ]);
  return texts.size > 0 ? `\n${fenced([...texts].map(oneLine).join("\n"))}` : "";
}

/** Words of documents between two lines that they cannot contain, so that they neither pass for ours nor are read as markup. */
export function fenced(/** @type {string} */ text) {
  const longest = Math.max(...(text.match(/`+/g) ?? []).map(({ length }) => length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** One line whose signs Markdown shows as they are. */
export function escape(/** @type {string} */ line) {
  return line.replace(/[\\`*_[\]<>~^|$&@]|(?<=:)(?=\/\/)|(?<=www)(?=\.)/gi, "\\$&");
}

/** A line break in a document must not look like one of ours. */
export function oneLine(/** @type {string} */ text) {
  return text.replace(/\s+/g, " ").trim();
}
