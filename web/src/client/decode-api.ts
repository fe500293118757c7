import { asAnswerMode, asRefusalReason, decodeCitation, decodeSearched } from "./decode.js";
import { invalidResponse } from "./errors.js";
import { asArray, asNumber, asObject, asString, type JsonObject, optional } from "./json.js";
import type {
  AnswerSetting,
  ChatConfig,
  Feedback,
  FeedbackReason,
  LinkMode,
  MessagePage,
  Session,
  SessionPage,
  StoredMessage,
} from "./wire.js";

/** Reads the settings; missing fields get the server's defaults. */
export function decodeConfig(json: JsonObject): ChatConfig {
  return {
    suggested_questions: asArray(json.suggested_questions).flatMap((question) => asString(question) ?? []),
    citations: json.citations !== false,
    link_mode: asLinkMode(json.link_mode),
    answer_mode: asAnswerSetting(json.answer_mode),
    dimensions: asNumber(json.dimensions) ?? 384,
    max_message_chars: asNumber(json.max_message_chars) ?? 4000,
    ...optional("sends_to", asString(json.sends_to)),
    ...optional("anonymous", anonymousOf(json.anonymous)),
    ...optional("title", asString(json.title)),
    ...optional("greeting", asString(json.greeting)),
    ...optional("support_url", asString(json.support_url)),
    ...optional("model", asString(json.model)),
  };
}

/** Reads a page of sessions and skips malformed ones. */
export function decodeSessionPage(json: JsonObject): SessionPage {
  if (!Array.isArray(json.sessions)) throw invalidResponse();
  return {
    sessions: json.sessions.flatMap((session: unknown) => sessionOf(session) ?? []),
    ...optional("next_cursor", asString(json.next_cursor)),
  };
}

/** Reads one session. */
export function decodeSession(json: JsonObject): Session {
  const session = sessionOf(json);
  if (!session) throw invalidResponse();
  return session;
}

/** Reads a page of messages and skips malformed ones. */
export function decodeMessagePage(json: JsonObject): MessagePage {
  if (!Array.isArray(json.messages)) throw invalidResponse();
  return {
    messages: json.messages.flatMap((message: unknown) => messageOf(message) ?? []),
    ...optional("next_cursor", asString(json.next_cursor)),
  };
}

function sessionOf(value: unknown): Session | undefined {
  const json = asObject(value);
  const id = asId(json?.id);
  if (!json || id === undefined) return undefined;
  return {
    id,
    created_at: asString(json.created_at) ?? "",
    updated_at: asString(json.updated_at) ?? "",
    ...optional("assistant", asString(json.assistant)),
    ...optional("title", asString(json.title)),
  };
}

function messageOf(value: unknown): StoredMessage | undefined {
  const json = asObject(value);
  const role = json?.role;
  const content = asString(json?.content);
  if (!json || content === undefined || (role !== "user" && role !== "assistant")) return undefined;
  return {
    id: asString(json.id) ?? "",
    role,
    content,
    citations: asArray(json.citations).flatMap(decodeCitation),
    hedged: json.hedged === true,
    created_at: asString(json.created_at) ?? "",
    ...optional("mode", asAnswerMode(json.mode)),
    ...(json.cut === true && { cut: true }),
    ...optional("refusal", asRefusalReason(json.refusal)),
    ...decodeSearched(json),
    ...optional("feedback", feedbackOf(json.feedback)),
  };
}

function feedbackOf(value: unknown): Feedback | undefined {
  const { rating, reason, comment } = asObject(value) ?? {};
  if (rating !== "up" && rating !== "down") return undefined;
  // A reason of a later version is passed on.
  return {
    rating,
    ...optional("reason", asString(reason) as FeedbackReason | undefined),
    ...optional("comment", asString(comment)),
  };
}

function anonymousOf(value: unknown): ChatConfig["anonymous"] {
  const { supabase_url, publishable_key, turnstile_site_key } = asObject(value) ?? {};
  const [url, key] = [asString(supabase_url), asString(publishable_key)];
  return url && key
    ? { supabase_url: url, publishable_key: key, ...optional("turnstile_site_key", asString(turnstile_site_key)) }
    : undefined;
}

/** The value if it is an id that fits into one segment of a URL path; `..` does not. */
function asId(value: unknown): string | undefined {
  return typeof value === "string" && /^[\w-]+$/.test(value) ? value : undefined;
}

function asAnswerSetting(value: unknown): AnswerSetting {
  return value === "endpoint" || value === "on_device" ? value : "extractive";
}

function asLinkMode(value: unknown): LinkMode {
  return value === "authenticated" || value === "public" ? value : "none";
}
