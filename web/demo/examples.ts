import type { TextKey } from "./texts/texts.js";

/** An example question, and what it demonstrates. */
export interface Example {
  /** In English, like the sample documents. */
  readonly question: string;
  readonly note: TextKey;
}

/** Questions that the sample documents answer, and one that they do not. */
export const EXAMPLES: readonly Example[] = [
  { question: "How long do I have to return an item?", note: "noteDirect" },
  { question: "What does standard delivery cost?", note: "noteNumber" },
  { question: "Can I combine gift cards?", note: "noteDeep" },
  { question: "How do I get rust off my frying pan?", note: "noteMeaning" },
  { question: "What is the capital of France?", note: "noteUnknown" },
];
