import type { Translator } from "../../../dom/translator.js";
import { titleOf } from "../documents.js";
import type { CopiedPiece } from "./pieces.js";

/** Text without markup: each source is the name of its document in brackets. */
export function asPlainText(pieces: readonly CopiedPiece[], translator: Translator): string {
  let text = "";
  for (const piece of pieces) {
    if (piece.kind !== "source") text += piece.text;
    else text += `${spaceAfter(text)}[${onOneLine(String(titleOf(piece.target.citation, translator)))}]`;
  }
  return text;
}

/** What separates a text from the source behind it: a space, unless there is one. */
export function spaceAfter(text: string): string {
  return text === "" || /\s$/.test(text) ? "" : " ";
}

/** The text in one line. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
