import { ChatError, invalidResponse, isServerCode } from "./errors.js";
import { asArray, asNumber, asObject, asString, type JsonObject, optional, parseObject } from "./json.js";
import { safeUrl } from "./safe-url.js";
import type { SseEvent } from "./sse.js";
import type { ChatEvent, Citation, EvidenceStrength, FoundPassage, Passage, Quote, RefusalReason } from "./wire.js";

/**
 * Reads one event of the answer stream. Unknown events give `undefined`, so the server can add new ones. An `error`
 * event throws its `ChatError`; malformed data throws `invalid_response`.
 */
export function decodeEvent({ name, data }: SseEvent): ChatEvent | undefined {
  const decoder = DECODERS.get(name);
  if (!decoder) return undefined;
  const json = parseObject(data);
  if (!json) throw invalidResponse();
  return decoder(json);
}

const DECODERS = new Map<string, (json: JsonObject) => ChatEvent>([
  ["answer_start", decodeAnswerStart],
  ["answer_delta", (json) => ({ type: "answer_delta", text: asString(json.text) ?? "" })],
  ["sources", decodeSources],
  ["answer_end", decodeAnswerEnd],
  ["refusal", decodeRefusal],
  [
    "error",
    (json) => {
      throw decodeError(json);
    },
  ],
]);

/** Reads the error JSON; `status` is the HTTP status of the response, missing for an `error` event. */
export function decodeError(json: JsonObject | undefined, status?: number, retryAfterSeconds?: number): ChatError {
  const message = asString(json?.message);
  if (!json || !message) return invalidResponse(status);
  const code = isServerCode(json.code) ? json.code : "internal";
  return new ChatError(code, message, {
    retryable: json.retryable === true,
    ...(code === "unauthorized" && { reason: "expired" }),
    ...optional("status", status),
    ...optional("retryAfterSeconds", retryAfterSeconds),
    ...optional("requestId", asString(json.request_id)),
  });
}

function decodeAnswerStart(json: JsonObject): ChatEvent {
  return {
    type: "answer_start",
    ...optional("session_id", asString(json.session_id)),
    hedged: json.hedged === true,
  };
}

function decodeSources(json: JsonObject): ChatEvent {
  return {
    type: "sources",
    citations: asArray(json.citations).flatMap(decodeCitation),
    also_found: asArray(json.also_found).flatMap(decodeFound),
    referenced_indices: asArray(json.referenced_indices).flatMap((index) => asNumber(index) ?? []),
  };
}

function decodeAnswerEnd(json: JsonObject): ChatEvent {
  return {
    type: "answer_end",
    ...optional("message_id", asString(json.message_id)),
    persisted: json.persisted !== false,
  };
}

function decodeRefusal(json: JsonObject): ChatEvent {
  return {
    type: "refusal",
    message: asString(json.message) ?? "There is not enough information to answer that question.",
    suggestions: strings(json.suggestions),
    reason: asRefusalReason(json.reason) ?? "no_match",
    nearest: asArray(json.nearest).flatMap(decodeFound),
    ...optional("session_id", asString(json.session_id)),
    persisted: json.persisted !== false,
  };
}

/** Reads one citation; an empty list if it is malformed. */
export function decodeCitation(value: unknown): Citation[] {
  const json = asObject(value);
  const index = asNumber(json?.index);
  if (!json || index === undefined) return [];
  return [
    {
      index,
      ...decodePassage(json),
      excerpt: asString(json.excerpt) ?? "",
      quotes: asArray(json.quotes).flatMap(decodeQuote),
      ...optional("strength", asStrength(json.strength)),
      ...(typeof json.available === "boolean" && { available: json.available }),
    },
  ];
}

/** Reads one passage that is not quoted; an empty list if it is malformed. */
function decodeFound(value: unknown): FoundPassage[] {
  const json = asObject(value);
  return json ? [{ ...decodePassage(json), ...optional("excerpt", asString(json.excerpt)) }] : [];
}

function decodePassage(json: JsonObject): Passage {
  return {
    chunk_id: asString(json.chunk_id) ?? "",
    document_id: asString(json.document_id) ?? "",
    title: asString(json.title) ?? "Unknown document",
    score: asNumber(json.score) ?? 0,
    ...optional("page", asNumber(json.page)),
    ...optional("section", asString(json.section)),
    ...optional("content_type", asString(json.content_type)),
    ...optional("url", safeUrl(json.url)),
    ...optional("download_url", safeUrl(json.download_url)),
  };
}

function decodeQuote(value: unknown): Quote[] {
  const json = asObject(value);
  const text = asString(json?.text);
  if (!json || !text) return [];
  const start = asNumber(json.start) ?? 0;
  const end = asNumber(json.end) ?? start + text.length;
  return [{ start, end, text, ...optional("plain", asString(json.plain)) }];
}

/** The value if it is a refusal reason. */
export function asRefusalReason(value: unknown): RefusalReason | undefined {
  return value === "no_match" || value === "weak_evidence" || value === "unreadable_language" || value === "empty_kb"
    ? value
    : undefined;
}

function asStrength(value: unknown): EvidenceStrength | undefined {
  return value === "strong" || value === "good" || value === "partial" ? value : undefined;
}

function strings(value: unknown): string[] {
  return asArray(value).flatMap((item) => asString(item) ?? []);
}
