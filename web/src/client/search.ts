import { decodeLayout, decodePassage, decodeQuote } from "./decode.js";
import { invalidResponse } from "./errors.js";
import { asArray, asObject, asString, type JsonObject, optional } from "./json.js";
import type { ChatClientOptions } from "./options.js";
import { apiUrl, sendForJson } from "./request.js";
import type { SearchRequest, SearchResult } from "./wire.js";

/**
 * Searches for the passages that fit a text which may still be typed, the best first. Results are places to look, not answers. The
 * server stores nothing, and its limit is another one than that of questions. An abort throws the signal's reason; every other failure
 * throws a `ChatError`.
 */
export async function search(
  request: SearchRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<readonly SearchResult[]> {
  const url = apiUrl(options.endpoint, "search");
  const body = { ...request, ...optional("assistant", options.assistant) };
  return decodeResults(await sendForJson({ url, method: "POST", body }, options, signal));
}

function decodeResults({ results }: JsonObject): readonly SearchResult[] {
  if (!Array.isArray(results)) throw invalidResponse();
  return results.flatMap(decodeResult);
}

/** Reads one result; an empty list if it is malformed. */
function decodeResult(value: unknown): SearchResult[] {
  const json = asObject(value);
  const quotes = asArray(json?.quotes).flatMap(decodeQuote);
  if (!json || quotes.length === 0) return [];
  const excerpt = asString(json.excerpt) ?? "";
  return [{ ...decodePassage(json), excerpt, ...optional("blocks", decodeLayout(json.blocks)), quotes }];
}
