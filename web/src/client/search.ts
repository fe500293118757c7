import { decodeQuote, PASSAGE } from "./decode.js";
import { invalidResponse } from "./errors.js";
import { asArray, asObject, asString, type JsonObject, list, needed, readObject, optional, or } from "./json.js";
import { apiUrl, type ChatClientOptions, sendForJson } from "./request.js";
import type { FoundStatements, PassageStatements, SearchRequest, SearchResult, StatementsRequest } from "./wire.js";

const MAX_PASSAGES = 5;
const MAX_STATEMENTS = 400;
/** The longest question or passage, in UTF-16 code units. A reader reads far fewer. */
const MAX_LENGTH = 100_000;

const CHUNK_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const HASH = /^[\da-f]{16}$/;

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
  const { results } = await post(request, options, signal);
  if (!Array.isArray(results)) throw invalidResponse();
  return list(decodeResult)(results);
}

const decodeResult = (value: unknown) =>
  readObject<SearchResult>(value, {
    ...PASSAGE,
    excerpt: or(asString, ""),
    quotes: needed((value) => {
      const quotes = list(decodeQuote)(value);
      return quotes.length > 0 ? quotes : undefined;
    }),
  });

/**
 * Searches for the passages from which a question would be answered, so that a reader can read them before the question is sent. The
 * server stores nothing. An abort throws the signal's reason; every other failure throws a `ChatError`.
 */
export async function searchStatements(
  request: StatementsRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<FoundStatements> {
  return decodeFound(await post({ ...request, statements: true }, options, signal));
}

function post(request: object, options: ChatClientOptions, signal: AbortSignal | undefined): Promise<JsonObject> {
  const body = { ...request, ...optional("assistant", options.assistant) };
  return sendForJson({ url: apiUrl(options.endpoint, "search"), method: "POST", body }, options, signal);
}

function decodeFound({ question, passages }: JsonObject): FoundStatements {
  const text = asString(question);
  if (text === undefined || text.length > MAX_LENGTH || !Array.isArray(passages)) throw invalidResponse();
  const found = new Map(passages.flatMap(decodeStatements).map((passage) => [passage.chunk_id, passage]));
  return { question: text, passages: [...found.values()].slice(0, MAX_PASSAGES) };
}

/** Reads one passage; an empty list if it is malformed, because the server would reject a question with its reading. */
function decodeStatements(value: unknown): PassageStatements[] {
  const json = asObject(value);
  const [chunk_id, hash] = [asString(json?.chunk_id) ?? "", asString(json?.hash) ?? ""];
  const heading = asString(json?.heading) ?? "";
  const statements = asArray(json?.statements).filter((statement) => typeof statement === "string");
  const count = asArray(json?.statements).length;
  const isComplete = statements.length === count && count > 0 && count <= MAX_STATEMENTS;
  const length = statements.reduce((sum, statement) => sum + statement.length, heading.length);
  const isValid = isComplete && length <= MAX_LENGTH && CHUNK_ID.test(chunk_id) && HASH.test(hash);
  return isValid ? [{ chunk_id, hash, heading, statements }] : [];
}
