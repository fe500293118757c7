import type { EmbedderErrorCode } from "@evidence-chat/embedder";

/**
 * The code of an `EmbedderError`; `undefined` for every other error. The page may bring an embedder of its own, whose class
 * of that name is another than the widget's.
 */
export function embedderErrorCode(error: unknown): EmbedderErrorCode | undefined {
  if (!(error instanceof Error) || error.name !== "EmbedderError") return undefined;
  return (error as Error & { readonly code?: EmbedderErrorCode }).code;
}
