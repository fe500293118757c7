import { decodeCitation, decodeMode, decodeReason, SEARCHED } from "./decode.js";
import { invalidResponse } from "./errors.js";
import {
  arrayOf,
  asNumber,
  asString,
  type Decode,
  ifTrue,
  isNotFalse,
  isTrue,
  type JsonObject,
  list,
  needed,
  readObject,
  oneOf,
  or,
} from "./json.js";
import type { ChatConfig, Feedback, FeedbackReason, MessagePage, Session, SessionPage, StoredMessage } from "./wire.js";

/** Makes a malformed response an error. */
/* @__NO_SIDE_EFFECTS__ */
function orThrow<T>(decode: Decode<T>): (json: JsonObject) => T {
  return (json) => {
    const read = decode(json);
    if (read === undefined) throw invalidResponse();
    return read;
  };
}

/** Reads the settings; missing fields get the server's defaults. */
export const decodeConfig = orThrow((value) =>
  readObject<ChatConfig>(value, {
    title: asString,
    greeting: asString,
    suggested_questions: list(asString),
    support_url: asString,
    citations: isNotFalse,
    link_mode: or(oneOf("none", "authenticated", "public"), "none"),
    answer_mode: or(oneOf("extractive", "endpoint", "on_device"), "extractive"),
    sends_to: asString,
    anonymous: (value) =>
      readObject<NonNullable<ChatConfig["anonymous"]>>(value, {
        supabase_url: needed(asString),
        publishable_key: needed(asString),
        turnstile_site_key: asString,
      }),
    model: asString,
    dimensions: or(asNumber, 384),
    max_message_chars: or(asNumber, 4000),
  }),
);

/** An id that fits into one segment of a URL path; `..` does not. */
const decodeId: Decode<string> = (value) => (/^[\w-]+$/.test(asString(value) ?? "") ? (value as string) : undefined);

const readSession = (value: unknown) =>
  readObject<Session>(value, {
    id: needed(decodeId),
    assistant: asString,
    title: asString,
    created_at: or(asString, ""),
    updated_at: or(asString, ""),
  });

/** Reads one session. */
export const decodeSession = orThrow(readSession);

/** Reads a page of sessions and skips malformed ones. */
export const decodeSessionPage = orThrow((value) =>
  readObject<SessionPage>(value, { sessions: needed(arrayOf(readSession)), next_cursor: asString }),
);

const readMessage = (value: unknown) =>
  readObject<StoredMessage>(value, {
    ...SEARCHED,
    id: or(asString, ""),
    role: needed(oneOf("user", "assistant")),
    content: needed(asString),
    citations: list(decodeCitation),
    hedged: isTrue,
    mode: decodeMode,
    cut: ifTrue,
    refusal: decodeReason,
    feedback: (value) =>
      readObject<Feedback>(value, {
        rating: needed(oneOf("up", "down")),
        // A reason of a later version is passed on.
        reason: asString as Decode<FeedbackReason>,
        comment: asString,
      }),
    created_at: or(asString, ""),
  });

/** Reads a page of messages and skips malformed ones. */
export const decodeMessagePage = orThrow((value) =>
  readObject<MessagePage>(value, { messages: needed(arrayOf(readMessage)), next_cursor: asString }),
);
