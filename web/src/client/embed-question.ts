import { wellFormed } from "./text.js";
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

/** A random UUID. `crypto.randomUUID` exists only in secure contexts; the widget also runs in others. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, position) => {
    const versioned = position === 6 ? (byte & 0x0f) | 0x40 : position === 8 ? (byte & 0x3f) | 0x80 : byte;
    return versioned.toString(16).padStart(2, "0");
  }).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
