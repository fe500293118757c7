import { ChatError, invalidResponse, isServerCode } from "./errors.js";
import { asArray, asNumber, asObject, asString, type JsonObject, optional, parseObject } from "./json.js";
import { safeLink, safeUrl } from "./safe-url.js";
import type { SseEvent } from "./sse.js";
import type {
  AnswerMode,
  ChatEvent,
  Citation,
  DecidedBy,
  DropReason,
  EvidenceStrength,
  FoundPassage,
  GenerationFallback,
  GenerationReport,
  PassageBlock,
  PassageLayout,
  PassageMark,
  Quote,
  QuotePiece,
  RefusalReason,
  Searched,
  Suggestion,
  Support,
} from "./wire.js";

/**
 * Reads one event of the answer stream. Unknown events and stages give `undefined`, so the server can add new ones. An `error`
 * event throws its `ChatError`; malformed data throws `invalid_response`.
 */
export function decodeEvent({ name, data }: SseEvent): ChatEvent | undefined {
  const decoder = DECODERS.get(name);
  if (!decoder) return undefined;
  const json = parseObject(data);
  if (!json) throw invalidResponse();
  return decoder(json);
}

const DECODERS = new Map<string, (json: JsonObject) => ChatEvent | undefined>([
  ["progress", ({ stage }) => (stage === "writing" ? { type: "progress", stage } : undefined)],
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
    ...optional("mode", asAnswerMode(json.mode)),
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
    ...optional("generation", decodeGeneration(json.generation)),
    ...decodeSearched(json),
    ...optional("decided_by", asOneOf(DECIDERS, json.decided_by)),
  };
}

/** What was searched, if it was not just the question. */
export function decodeSearched({ searched, truncated }: JsonObject): Searched {
  return { ...optional("searched", asString(searched)), ...(truncated === true && { truncated }) };
}

function decodeGeneration(value: unknown): GenerationReport | undefined {
  const json = asObject(value);
  if (!json) return undefined;
  return {
    model: asString(json.model) ?? "",
    sentences: asCount(json.sentences) ?? 0,
    dropped: decodeDropped(json.dropped),
    invalid_markers: asCount(json.invalid_markers) ?? 0,
    repaired_citations: asCount(json.repaired_citations) ?? 0,
    ...optional("quotes", asCount(json.quotes)),
    ...optional("fallback", asOneOf(FALLBACKS, json.fallback)),
    ...(json.cut === true && { cut: true }),
    ...optional("prompt_tokens", asCount(json.prompt_tokens)),
    ...optional("completion_tokens", asCount(json.completion_tokens)),
  };
}

/** Counts reasons that this version does not know as `unsupported`, which is true of every sentence that was left out. */
function decodeDropped(value: unknown): GenerationReport["dropped"] {
  const dropped: { [reason in DropReason]?: number } = {};
  for (const [name, count] of Object.entries(asObject(value) ?? {})) {
    const reason = asOneOf(DROP_REASONS, name) ?? "unsupported";
    const sum = (dropped[reason] ?? 0) + (asCount(count) ?? 0);
    if (sum > 0) dropped[reason] = sum;
  }
  return dropped;
}

function decodeRefusal(json: JsonObject): ChatEvent {
  return {
    type: "refusal",
    message: asString(json.message) ?? "There is not enough information to answer that question.",
    suggestions: asArray(json.suggestions).flatMap(decodeSuggestion),
    reason: asRefusalReason(json.reason) ?? "no_match",
    nearest: asArray(json.nearest).flatMap(decodeFound),
    ...optional("session_id", asString(json.session_id)),
    persisted: json.persisted !== false,
    ...decodeSearched(json),
    ...optional("decided_by", asOneOf(DECIDERS, json.decided_by)),
  };
}

/** Skips suggestions of types that this version does not know. */
function decodeSuggestion(value: unknown): Suggestion[] {
  const json = asObject(value);
  const text = asString(json?.text);
  if (!json || text === undefined) return [];
  if (json.type === "contact") return [{ type: "contact", text, ...optional("url", safeLink(json.url)) }];
  return json.type === "rephrase" || json.type === "ask" ? [{ type: json.type, text }] : [];
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
      ...(Array.isArray(json.supports) && { supports: json.supports.flatMap(decodeSupport) }),
      ...optional("strength", asStrength(json.strength)),
      ...(typeof json.available === "boolean" && { available: json.available }),
    },
  ];
}

/** Reads one passage that is not quoted; an empty list if it is malformed. */
function decodeFound(value: unknown): FoundPassage[] {
  const json = asObject(value);
  return json ? [decodePassage(json)] : [];
}

/** Reads the fields of a passage that citations and results of a search have too. */
export function decodePassage(json: JsonObject): FoundPassage {
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
    ...optional("excerpt", asString(json.excerpt)),
    ...optional("blocks", decodeLayout(json.blocks)),
  };
}

/** Reads one quote; an empty list if it is malformed. */
export function decodeQuote(value: unknown): Quote[] {
  const json = asObject(value);
  const words = json && decodeWords(json);
  const pieces = decodePieces(json?.pieces);
  if (!words || !pieces) return [];
  return [
    {
      ...words,
      pieces,
      ...optional("kind", asString(json.kind)),
      ...optional("plain", asString(json.plain)),
      ...optional("whole", asString(json.whole)),
    },
  ];
}

/** The pieces of a quote; `undefined` if one of them is malformed, because the others may say something else without it. */
function decodePieces(value: unknown): readonly QuotePiece[] | undefined {
  const pieces = asArray(value).flatMap((each): QuotePiece[] => {
    const json = asObject(each);
    const [text, role] = [asString(json?.text), asString(json?.role)];
    const isValid = text !== undefined && role === json?.role;
    return isValid ? [{ text, ...optional("role", role) }] : [];
  });
  return pieces.length > 0 && pieces.length === asArray(value).length ? pieces : undefined;
}

/** How a passage is laid out. Malformed parts, and those of kinds that this version does not know, are left out. */
function decodeLayout(value: unknown): PassageLayout | undefined {
  const json = asObject(value);
  if (!Array.isArray(json?.blocks)) return undefined;
  return { blocks: json.blocks.flatMap(decodeBlock), marks: asArray(json.marks).flatMap(decodeMark) };
}

function decodeBlock(value: unknown): PassageBlock[] {
  const json = asObject(value);
  const kind = asOneOf(BLOCK_KINDS, json?.kind);
  const [start, end] = [asCount(json?.start), asCount(json?.end)];
  if (!json || !kind || start === undefined || end === undefined) return [];
  return [
    {
      kind,
      start,
      end,
      ...optional("text", asCount(json.text)),
      ...optional("depth", asCount(json.depth)),
      ...(Array.isArray(json.cells) && { cells: json.cells.flatMap(decodeCell) }),
      ...(json.is_header === true && { is_header: true }),
    },
  ];
}

function decodeCell(value: unknown): [start: number, end: number][] {
  const [start, end] = asArray(value).map(asCount);
  return start === undefined || end === undefined ? [] : [[start, end]];
}

function decodeMark(value: unknown): PassageMark[] {
  const json = asObject(value);
  const kind = asOneOf(MARK_KINDS, json?.kind);
  const [start, end] = [asCount(json?.start), asCount(json?.end)];
  return kind && start !== undefined && end !== undefined ? [{ kind, start, end }] : [];
}

/** A support without its sentence could explain any of them, so it is malformed. */
function decodeSupport(value: unknown): Support[] {
  const json = asObject(value);
  const words = json && decodeWords(json);
  const sentence = asCount(json?.sentence);
  return words && sentence !== undefined ? [{ ...words, sentence }] : [];
}

/** The place and the text of words in a passage. */
function decodeWords(json: JsonObject): Pick<Quote, "start" | "end" | "text"> | undefined {
  const text = asString(json.text);
  if (text === undefined) return undefined;
  const start = asNumber(json.start) ?? 0;
  return { start, end: asNumber(json.end) ?? start + text.length, text };
}

/** The value if it is a refusal reason. */
export function asRefusalReason(value: unknown): RefusalReason | undefined {
  return asOneOf(REFUSAL_REASONS, value);
}

/** The mode of an answer. A mode that this version does not know counts as generated: such an answer may not be read as quotes. */
export function asAnswerMode(value: unknown): AnswerMode | undefined {
  return value === undefined || value === null ? undefined : (asOneOf(ANSWER_MODES, value) ?? "generated");
}

function asStrength(value: unknown): EvidenceStrength | undefined {
  return asOneOf(STRENGTHS, value);
}

function asOneOf<T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((each) => each === value);
}

const BLOCK_KINDS: readonly PassageBlock["kind"][] = [
  "paragraph",
  "heading",
  "question",
  "label",
  "item",
  "row",
  "code",
];
const MARK_KINDS: readonly PassageMark["kind"][] = ["code", "link", "emphasis", "strong", "reference"];
const DECIDERS: readonly DecidedBy[] = ["reader", "search"];
const ANSWER_MODES: readonly AnswerMode[] = ["extractive", "generated"];
const DROP_REASONS: readonly DropReason[] = ["number", "name", "quote", "link", "polarity", "order", "unsupported"];
const FALLBACKS: readonly GenerationFallback[] = ["timeout", "error", "unsupported", "budget", "declined"];
const REFUSAL_REASONS: readonly RefusalReason[] = [
  "no_match",
  "weak_evidence",
  "unreadable_language",
  "no_access",
  "empty_kb",
];
const STRENGTHS: readonly EvidenceStrength[] = ["strong", "good", "partial"];

/** The value if it is a whole number from 0. */
function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
