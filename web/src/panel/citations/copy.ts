import { safeUrl } from "../../client/safe-url.js";
import { onOneLine, withoutBidiControls } from "../../client/text.js";
import type { Translator } from "../../dom/translator.js";
import { titleOf } from "./documents.js";
import { narrowed, type Target } from "./markers.js";
import { citedSpans, hasWords, wholeWords } from "./quotes.js";

/** A copied piece: text, or the source of a badge. */
export type CopiedPiece =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "source"; readonly target: Target };

/** Text without markup, with the title of the document in brackets for each source. */
export function asPlainText(pieces: readonly CopiedPiece[], translator: Translator): string {
  let text = "";
  for (const piece of pieces) {
    if (piece.kind !== "source") text += piece.text;
    else text += `${spaceAfter(text)}[${onOneLine(String(titleOf(piece.target.citation, translator)))}]`;
  }
  return text;
}

/** The separator between a text and the source after it: a space, unless the text ends with one. */
function spaceAfter(text: string): string {
  return text === "" || /\s$/.test(text) ? "" : " ";
}

/** Markdown with a footnote, `[^1]`, for each source, and the footnotes at the end. Equal sources share a footnote. */
export function asMarkdown(pieces: readonly CopiedPiece[], translator: Translator): string {
  const footnotes: string[] = [];
  let text = "";
  for (const piece of pieces) {
    if (piece.kind === "text") text += escapeText(piece.text);
    else {
      const footnote = footnoteOf(piece.target, translator);
      if (!footnotes.includes(footnote)) footnotes.push(footnote);
      text += `[^${footnotes.indexOf(footnote) + 1}]`;
    }
  }
  const notes = footnotes.map((footnote, place) => `[^${place + 1}]: ${footnote}`);
  return [text.trimEnd(), ...(notes.length > 0 ? [notes.join("\n")] : [])].join("\n\n");
}

/** `[Title](url), section, p. 3 — "words"`, without the parts that are unknown. */
function footnoteOf(target: Target, translator: Translator): string {
  const { citation } = target;
  const { section, page } = citation;
  const title = escapeAll(String(titleOf(citation, translator)));
  const url = safeUrl(citation.url);
  const isAvailable = citation.available !== false;
  const place = [
    url !== undefined && isAvailable ? `[${title}](${destination(url)})` : title,
    ...(section === undefined ? [] : [escapeAll(withoutBidiControls(section))]),
    ...(page === undefined ? [] : [`p. ${page}`]),
  ].join(", ");
  const words = [target, ...(target.others ?? [])].flatMap(wordsOf).join(" … ");
  return words === "" ? place : `${place} — "${escapeAll(words)}"`;
}

/** The quote, or the source words of a generated sentence, with bars between cells; none if the passage does not have them. */
function wordsOf(target: Target): string[] {
  const { citation, quote } = target;
  if (quote) return hasWords(citation, quote) ? [wholeWords(quote)] : [];
  return citedSpans(narrowed(target)).map(({ start, end }) =>
    withoutBidiControls(citation.excerpt.slice(start, end).replaceAll("\t", " | ")),
  );
}

/** A URL without characters that would end a link's target. */
function destination(url: string): string {
  return url.replace(/[()<>\\\s]/g, (character) =>
    encodeURIComponent(character).replace("(", "%28").replace(")", "%29"),
  );
}

/** Text on one line, escaped. */
function escapeAll(text: string): string {
  return escapeText(onOneLine(text));
}

/** Escapes inline markup, and characters that start a block at the beginning of a line. */
function escapeText(text: string): string {
  return text
    .replace(/[\\`*_[\]<>~|]/g, "\\$&")
    .replace(/&(?=#?\w+;)/g, "\\&")
    .replace(/^([ \t]*)([#+=-]|\d+(?=[.)]))/gm, (_, space: string, sign: string) =>
      /\d/.test(sign) ? `${space}${sign}\\` : `${space}\\${sign}`,
    );
}
