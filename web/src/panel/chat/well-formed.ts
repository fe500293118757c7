/**
 * The text with U+FFFD for each half of a surrogate pair that stands alone: JSON escapes such a half, and the server
 * takes it for a broken body. Does what `toWellFormed()` does, in every browser that runs the widget.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
