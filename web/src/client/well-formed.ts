/**
 * The text with U+FFFD in place of each lone surrogate, which the server would reject as malformed JSON. Like
 * `toWellFormed()`, which some supported browsers lack.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
