// Text that visitors and documents wrote. It must not reorder, hide or push away what is around it.
import { withoutBidiControls } from "../src/client/text.js";
import { element } from "../src/dom/element.js";

/** The part of a longer text that is shown at first. */
const MAX_SHOWN_CHARACTERS = 280;
const MAX_SHOWN_LINES = 6;

/** Control characters but for tabs and line feeds. Among them are line breaks of YAML. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;

/** Stands for a text without letters, digits, punctuation and symbols. */
export const NO_TEXT = "(no text)";

/** The text without characters that change the order of others. */
export function visible(text: string): string {
  const shown = withoutBidiControls(text.replaceAll("\r\n", "\n")).replace(CONTROLS, " ").trim();
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(shown) ? shown : NO_TEXT;
}

/** The visible text on one line. */
export const onOneLine = (text: string): string => visible(text).replace(/\s+/g, " ");

/** The beginning of the text, with an ellipsis if something is missing. */
export function shorten(text: string, maxCharacters = MAX_SHOWN_CHARACTERS): string {
  const whole = visible(text);
  const start = whole.split("\n").slice(0, MAX_SHOWN_LINES).join("\n");
  const characters = [...start];
  if (start === whole && characters.length <= maxCharacters) return whole;
  return `${characters
    .slice(0, maxCharacters - 1)
    .join("")
    .trimEnd()}…`;
}

/** The whole text, which the reader can open, if {@link shorten} leaves something out. */
export function wholeText(text: string, summary: string): HTMLElement | undefined {
  const whole = visible(text);
  if (shorten(whole) === whole) return undefined;
  return element("details", {}, element("summary", {}, summary), element("p", { class: "whole", dir: "auto" }, whole));
}
