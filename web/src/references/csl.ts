import bibliography from "@citation-js/plugin-csl/lib-mjs/bibliography.js";
import { locales } from "@citation-js/plugin-csl/lib-mjs/locales.js";
import { type CslItem, cslItem, type ReferenceSource } from "./source.js";

/** Writes references in one of the styles of CSL. */
export function formatStyle(sources: readonly ReferenceSource[], style: string, language: string): string {
  const items = sources.map((source, index) => literal(cslItem(source, String(index))));
  const entries = bibliography(items, { style, lang: localeOf(language), format: "text", asEntryArray: true });
  return entries.map(([, text]) => fromLiteral(text.trim())).join("\n\n");
}

/** The one of Citation.js's languages that is closest to a BCP 47 tag. */
function localeOf(language: string): string {
  const primary = language.toLowerCase().split("-", 1)[0];
  return locales.list().find((locale) => locale.startsWith(`${primary}-`)) ?? "en-US";
}

/**
 * The processor of styles takes `<i>` and its like in a title for markup. Two code points that stand for no character,
 * and that no title should have, keep the places of `<` and `>` while it works.
 */
function literal(item: CslItem): object {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, typeof value === "string" ? hideMarkup(value) : value]),
  );
}

function hideMarkup(text: string): string {
  return text
    .replace(/[\uFDD0\uFDD1]/g, "")
    .replaceAll("<", "\uFDD0")
    .replaceAll(">", "\uFDD1");
}

function fromLiteral(text: string): string {
  return text.replaceAll("\uFDD0", "<").replaceAll("\uFDD1", ">");
}
