/** Embeddings, overrides and isolates: they turn the letters after them around, also those outside of an element. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text whose letters are shown in the order they are written in: without control characters that would turn them. */
export function withoutBidiControls(text: string): string {
  return text.replace(BIDI_CONTROLS, "");
}
