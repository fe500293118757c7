import { wellFormed } from "./well-formed.js";
import type { ChatRequest } from "./wire.js";

/** Embeds texts; that of `@evidence-chat/embedder`, or any other with its model. */
export interface TextEmbedder {
  readonly fingerprint: string;
  embed(
    text: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly vector: Float32Array; readonly tokens: number; readonly truncated: boolean }>;
}

/** The fields of a request that are made of the texts, and the number of tokens of the question. */
export interface EmbeddedQuestion {
  readonly fields: Pick<ChatRequest, "embedding" | "message" | "model" | "previous" | "truncated">;
  readonly tokens: number;
}

/** Characters of a question. The server rejects a longer one. */
const MAX_CHARS = 4000;

/** Embeds a question and, if there was one before it, both together, so that a follow-up such as "And to Norway?" is understood. */
export async function embedQuestion(
  question: string,
  questionBefore: string | undefined,
  embedder: TextEmbedder,
  signal?: AbortSignal,
): Promise<EmbeddedQuestion> {
  const message = wellFormed(question);
  const before = wellFormed(questionBefore ?? "").trim();
  // The server would reject the question because of the one before it.
  const isValid = before !== "" && !before.includes("\0") && [...before].length <= MAX_CHARS;
  const [{ vector, tokens, truncated }, both] = await Promise.all([
    embedder.embed(message, { signal }),
    isValid ? embedder.embed(`${message} ${before}`, { signal }) : undefined,
  ]);
  const fields = {
    embedding: Array.from(vector),
    message,
    model: embedder.fingerprint,
    // If the model cannot read both, the vector is not that of both.
    ...(both && !both.truncated && { previous: { message: before, embedding: Array.from(both.vector) } }),
    ...(truncated && { truncated }),
  };
  return { fields, tokens };
}
