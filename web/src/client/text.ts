/**
 * The text with U+FFFD in place of each lone surrogate, which the server would reject as malformed JSON. Like
 * `toWellFormed()`, which some supported browsers lack.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Embeddings, overrides and isolates. They change the direction of the following text, even outside their element. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text without control characters that would change the order of its letters. */
export function withoutBidiControls(text: string): string {
  return text.replace(BIDI_CONTROLS, "");
}

/** The text with each run of white space as one space. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
