/** Questions that show what the sample knowledge base knows, and one that it does not. */
export const EXAMPLES: readonly string[] = [
  "How long do I have to return an item?",
  "What does standard delivery cost?",
  "Can I combine gift cards?",
  "What is the capital of France?",
];
