/** Embeddings, overrides and isolates. They change the direction of the following text, even outside their element. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text without control characters that would change the order of its letters. */
export function withoutBidiControls(text: string): string {
  return text.replace(BIDI_CONTROLS, "");
}
