import { safeUrl } from "../../../client/safe-url.js";
import { withoutBidiControls } from "../../../dom/bidi.js";
import type { Translator } from "../../../dom/translator.js";
import { titleOf } from "../documents.js";
import { locateQuote, wordsOf } from "../quotes.js";
import type { Target } from "../target.js";
import type { CopiedPiece } from "./pieces.js";
import { onOneLine } from "./plain-text.js";

/** Markdown: each source is a footnote, `[^1]`, and the footnotes follow at the end. The same source is the same footnote. */
export function asMarkdown(pieces: readonly CopiedPiece[], translator: Translator): string {
  const footnotes: string[] = [];
  let text = "";
  for (const piece of pieces) {
    if (piece.kind !== "source") text += piece.kind === "code" ? piece.text : escapeText(piece.text);
    else {
      const footnote = footnoteOf(piece.target, translator);
      if (!footnotes.includes(footnote)) footnotes.push(footnote);
      text += `[^${footnotes.indexOf(footnote) + 1}]`;
    }
  }
  const notes = footnotes.map((footnote, place) => `[^${place + 1}]: ${footnote}`);
  return [text.trimEnd(), ...(notes.length > 0 ? [notes.join("\n")] : [])].join("\n\n");
}

/** `[Title](url), section, p. 3 — "quote"`, as far as these are known. */
function footnoteOf({ citation, quote }: Target, translator: Translator): string {
  const { section, page, excerpt } = citation;
  const title = escapeAll(String(titleOf(citation, translator)));
  const url = safeUrl(citation.url);
  const isAvailable = citation.available !== false;
  const place = [
    url !== undefined && isAvailable ? `[${title}](${destination(url)})` : title,
    ...(section === undefined ? [] : [escapeAll(withoutBidiControls(section))]),
    ...(page === undefined ? [] : [`p. ${page}`]),
  ].join(", ");
  const stands = quote !== undefined && locateQuote(excerpt, quote) !== undefined;
  return stands ? `${place} — "${escapeAll(wordsOf(quote))}"` : place;
}

/** A URL that ends where it should. */
function destination(url: string): string {
  return url.replace(/[()<>\\\s]/g, (character) =>
    encodeURIComponent(character).replace("(", "%28").replace(")", "%29"),
  );
}

/** Text on one line that stays text. */
function escapeAll(text: string): string {
  return escapeText(onOneLine(text));
}

/** Markup of running text, and what makes a line something else than text. */
function escapeText(text: string): string {
  return text
    .replace(/[\\`*_[\]<>~|]/g, "\\$&")
    .replace(/&(?=#?\w+;)/g, "\\&")
    .replace(/^([ \t]*)([#+=-]|\d+(?=[.)]))/gm, (_, space: string, sign: string) =>
      /\d/.test(sign) ? `${space}${sign}\\` : `${space}\\${sign}`,
    );
}
