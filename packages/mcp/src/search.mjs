import { search as searchPassages } from "@evidence-chat/widget/client";
import { ExcerptBudget } from "./bounds.mjs";
import { place, quotation } from "./text.mjs";

/** @import { ChatClientOptions } from "@evidence-chat/widget/client" */
/** @import { Embedder } from "@evidence-chat/embedder" */

/**
 * Searches for passages. Throws a `ChatError`, or the reason of the signal.
 * @param {{ query: string, limit: number }} input
 * @param {{ embedder: Embedder, client: ChatClientOptions, signal: AbortSignal }} context
 */
export async function search({ query, limit }, { embedder, client, signal }) {
  const { vector, truncated } = await embedder.embed(query, { signal });
  const request = { query, embedding: Array.from(vector), model: embedder.fingerprint, limit };
  const found = await searchPassages(request, client, signal);
  const budget = new ExcerptBudget();
  const results = found.slice(0, limit).map(({ excerpt, blocks: _blocks, ...result }) => ({
    ...result,
    ...budget.take(excerpt),
  }));
  const structuredContent = { results, truncated, shortened: budget.isExceeded };
  const lines = results.map((result, index) => `${index + 1}. ${place(result)}${quotation(result)}`);
  const texts = [
    lines.join("\n") || "Nothing is near.",
    ...(truncated ? ["Note: the query is longer than the model reads, so its end was ignored."] : []),
  ];
  return { structuredContent, content: [{ type: /** @type {const} */ ("text"), text: texts.join("\n\n") }] };
}
