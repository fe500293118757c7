import type { Target } from "../target.js";

/** A copied piece: text, code of an answer, or the source of a badge. */
export type CopiedPiece =
  { readonly kind: "text" | "code"; readonly text: string } | { readonly kind: "source"; readonly target: Target };
