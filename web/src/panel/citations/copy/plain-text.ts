import type { Translator } from "../../../dom/translator.js";
import { titleOf } from "../documents.js";
import type { CopiedPiece } from "./pieces.js";

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
export function spaceAfter(text: string): string {
  return text === "" || /\s$/.test(text) ? "" : " ";
}

/** The text with each run of white space as one space. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
