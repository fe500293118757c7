import type { EmbedderErrorCode } from "@evidence-chat/embedder";

/**
 * The code of an `EmbedderError`; `undefined` for other errors. Not by `instanceof`: a page's own embedder may come
 * with another copy of the class.
 */
export function embedderErrorCode(error: unknown): EmbedderErrorCode | undefined {
  if (!(error instanceof Error) || error.name !== "EmbedderError") return undefined;
  return (error as Error & { readonly code?: EmbedderErrorCode }).code;
}
