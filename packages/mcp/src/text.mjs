/** @import { Citation, Passage } from "@evidence-chat/widget/client" */

/**
 * Where a passage is: document, section, page and address, in one line.
 * @param {Pick<Passage, "title" | "section" | "page" | "url">} passage
 */
export function place({ title, section, page, url }) {
  const parts = [title, ...(section && section !== title ? [section] : []), ...(page ? [`page ${page}`] : [])];
  return oneLine(parts.join(", ")) + (url ? ` <${url}>` : "");
}

/**
 * The words of a passage that the answer uses, each on a line of its own.
 * @param {Pick<Citation, "quotes"> & Partial<Pick<Citation, "supports">>} citation
 */
export function quotation({ quotes, supports = [] }) {
  const texts = new Set([
    ...quotes.map(({ whole, plain, text }) => whole ?? plain ?? text),
    ...supports.map(({ text }) => text),
  ]);
  return [...texts].map((text) => `\n    "${oneLine(text)}"`).join("");
}

/** A line break in a document must not look like one of ours. */
export function oneLine(/** @type {string} */ text) {
  return text.replace(/\s+/g, " ").trim();
}
