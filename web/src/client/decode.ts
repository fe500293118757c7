import { decodeError, invalidResponse } from "./errors.js";
import {
  arrayOf,
  asArray,
  asCount,
  asNumber,
  asObject,
  asString,
  type Decode,
  type Fields,
  ifTrue,
  isNotFalse,
  isTrue,
  list,
  needed,
  readObject,
  oneOf,
  optional,
  or,
  parseObject,
  unlessMalformed,
} from "./json.js";
import { safeLink, safeUrl } from "./safe-url.js";
import type { SseEvent } from "./sse.js";
import type {
  AnswerMode,
  ChatEvent,
  Citation,
  FoundPassage,
  GenerationReport,
  PassageBlock,
  PassageLayout,
  PassageMark,
  Quote,
  QuotePiece,
  RefusalEvent,
  Searched,
  Suggestion,
  Support,
} from "./wire.js";

/**
 * Reads one event of the answer stream. Unknown events and stages give `undefined`, so the server can add new
 * ones. An `error` event throws its `ChatError`; malformed data throws `invalid_response`.
 */
export function decodeEvent({ name, data }: SseEvent): ChatEvent | undefined {
  const isError = name === "error";
  if (!isError && !Object.hasOwn(EVENTS, name)) return undefined;
  const json = parseObject(data);
  if (!json) throw invalidResponse();
  if (isError) throw decodeError(json);
  return EVENTS[name as ChatEvent["type"]](json);
}

/** The mode of an answer. An unknown mode counts as generated: such an answer may not be read as quotes. */
export const decodeMode: Decode<AnswerMode> = (value) =>
  value === undefined || value === null ? undefined : (oneOf("extractive", "generated")(value) ?? "generated");

export const decodeReason = oneOf("no_match", "weak_evidence", "unreadable_language", "no_access", "empty_kb");

/** The searched text, if it differs from the question. */
export const SEARCHED: Fields<Searched> = { searched: asString, truncated: ifTrue };

const decodeMark = (value: unknown) =>
  readObject<PassageMark>(value, {
    kind: needed(oneOf("code", "link", "emphasis", "strong", "reference")),
    start: needed(asCount),
    end: needed(asCount),
  });

const decodeCell: Decode<readonly [number, number]> = (value) => {
  const [start, end] = asArray(value).map(asCount);
  return start === undefined || end === undefined ? undefined : [start, end];
};

const decodeBlock = (value: unknown) =>
  readObject<PassageBlock>(value, {
    kind: needed(oneOf("paragraph", "heading", "question", "label", "item", "row", "code")),
    start: needed(asCount),
    end: needed(asCount),
    text: asCount,
    depth: asCount,
    cells: arrayOf(decodeCell),
    is_header: ifTrue,
  });

/** The fields of a passage that citations and results of a search have too. */
export const PASSAGE: Fields<FoundPassage> = {
  chunk_id: or(asString, ""),
  document_id: or(asString, ""),
  title: or(asString, "Unknown document"),
  score: or(asNumber, 0),
  page: asNumber,
  section: asString,
  content_type: asString,
  url: safeUrl,
  download_url: safeUrl,
  excerpt: asString,
  blocks: (value) =>
    readObject<PassageLayout>(value, { blocks: needed(arrayOf(decodeBlock)), marks: list(decodeMark) }),
};

/** The place and the text of words in a passage. */
const WORDS = { start: or(asNumber, 0), end: or(asNumber, 0), text: needed(asString) };

const decodePiece = (value: unknown) =>
  readObject<QuotePiece>(value, {
    text: needed(asString),
    // Without its role, a piece would be words of the quote itself.
    role: unlessMalformed(asString),
  });

/** Reads a quote. One malformed piece makes it malformed: the others may say something else without it. */
export const decodeQuote = (value: unknown) =>
  readObject<Quote>(value, {
    ...WORDS,
    pieces: needed((value) => {
      const pieces = list(decodePiece)(value);
      return pieces.length > 0 && pieces.length === asArray(value).length ? pieces : undefined;
    }),
    kind: asString,
    plain: asString,
    whole: asString,
  });

export const decodeCitation = (value: unknown) =>
  readObject<Citation>(value, {
    ...PASSAGE,
    index: needed(asNumber),
    excerpt: or(asString, ""),
    quotes: list(decodeQuote),
    // A support without its sentence could explain any of them.
    supports: arrayOf((value) => readObject<Support>(value, { ...WORDS, sentence: needed(asCount) })),
    strength: oneOf("strong", "good", "partial"),
    available: (value) => (typeof value === "boolean" ? value : undefined),
  });

/** Reads a suggestion; types that this version does not know are malformed. */
const decodeSuggestion: Decode<Suggestion> = (value) => {
  const { type, text, url } = asObject(value) ?? {};
  const known = oneOf("contact", "rephrase", "ask")(type);
  const shown = asString(text);
  if (!known || shown === undefined) return undefined;
  return known === "contact"
    ? { type: known, text: shown, ...optional("url", safeLink(url)) }
    : { type: known, text: shown };
};

const DROP_REASONS = oneOf("number", "name", "quote", "link", "polarity", "order", "unsupported");

/** Counts unknown reasons as `unsupported`, which is true of every sentence that was left out. */
function decodeDropped(value: unknown): GenerationReport["dropped"] {
  const dropped: { -readonly [reason in keyof GenerationReport["dropped"]]: number } = {};
  for (const [name, count] of Object.entries(asObject(value) ?? {})) {
    const reason = DROP_REASONS(name) ?? "unsupported";
    const sum = (dropped[reason] ?? 0) + (asCount(count) ?? 0);
    if (sum > 0) dropped[reason] = sum;
  }
  return dropped;
}

const decodeGeneration = (value: unknown) =>
  readObject<GenerationReport>(value, {
    model: or(asString, ""),
    sentences: or(asCount, 0),
    quotes: asCount,
    dropped: decodeDropped,
    invalid_markers: or(asCount, 0),
    repaired_citations: or(asCount, 0),
    fallback: oneOf("timeout", "error", "unsupported", "budget", "declined"),
    cut: ifTrue,
    prompt_tokens: asCount,
    completion_tokens: asCount,
  });

const decodeDecider = oneOf("reader", "search");
const decodeFound = (value: unknown) => readObject<FoundPassage>(value, PASSAGE);

type EventOf<Type extends ChatEvent["type"]> = Extract<ChatEvent, { type: Type }>;

const EVENTS: { readonly [Type in ChatEvent["type"]]: Decode<EventOf<Type>> } = {
  progress: (value) =>
    readObject<EventOf<"progress">>(value, { type: () => "progress", stage: needed(oneOf("writing")) }),
  answer_start: (value) =>
    readObject<EventOf<"answer_start">>(value, {
      type: () => "answer_start",
      session_id: asString,
      hedged: isTrue,
      mode: decodeMode,
    }),
  answer_delta: (value) =>
    readObject<EventOf<"answer_delta">>(value, { type: () => "answer_delta", text: or(asString, "") }),
  sources: (value) =>
    readObject<EventOf<"sources">>(value, {
      type: () => "sources",
      citations: list(decodeCitation),
      also_found: list(decodeFound),
      referenced_indices: list(asNumber),
    }),
  answer_end: (value) =>
    readObject<EventOf<"answer_end">>(value, {
      ...SEARCHED,
      type: () => "answer_end",
      message_id: asString,
      persisted: isNotFalse,
      generation: decodeGeneration,
      decided_by: decodeDecider,
    }),
  refusal: (value) =>
    readObject<RefusalEvent>(value, {
      ...SEARCHED,
      type: () => "refusal",
      message: or(asString, "There is not enough information to answer that question."),
      suggestions: list(decodeSuggestion),
      reason: or(decodeReason, "no_match"),
      nearest: list(decodeFound),
      session_id: asString,
      persisted: isNotFalse,
      decided_by: decodeDecider,
    }),
};
