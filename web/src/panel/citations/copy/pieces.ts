import type { Target } from "../target.js";

/** A copied piece: text, or the source of a badge. */
export type CopiedPiece =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "source"; readonly target: Target };
