import type { Target } from "../target.js";

/** A piece of what is copied: text, code of an answer, or a source that stands where its badge does. */
export type CopiedPiece =
  { readonly kind: "text" | "code"; readonly text: string } | { readonly kind: "source"; readonly target: Target };
