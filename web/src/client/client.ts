import { decodeError, decodeEvent } from "./decode.js";
import { ChatError, connectionLost, invalidResponse } from "./errors.js";
import { eventStream } from "./event-stream.js";
import { parseObject } from "./json.js";
import type { ChatEvent, ChatRequest } from "./wire.js";
import { SilenceError, within } from "./within.js";

/** Gives the user's current access token, or `null` if nobody is signed in. */
export type TokenProvider = () => Promise<string | null>;

/** Where questions are sent, and as whom. */
export interface ChatClientOptions {
  /** URL of POST /api/chat. */
  readonly endpoint: string;
  /** Called for each request, and once more when the server answers 401. */
  readonly tokenProvider: TokenProvider;
  /**
   * How long the token may take, and how long the stream may be silent before it counts as cut; the server sends
   * heartbeats while it writes the history.
   */
  readonly idleTimeoutMs?: number;
}

const DEFAULT_IDLE_TIMEOUT_MS = 30_000;

/**
 * Sends a question and yields the events of its outcome, the last of which is `answer_end` or `refusal`. Everything
 * else that can happen throws a `ChatError`, except an abort, which throws the signal's reason.
 */
export async function* streamChat(
  request: ChatRequest,
  { endpoint, tokenProvider, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS }: ChatClientOptions,
  signal?: AbortSignal,
): AsyncGenerator<ChatEvent, void, undefined> {
  const send = async () => {
    const token = await currentToken(tokenProvider, idleTimeoutMs, signal);
    return within(idleTimeoutMs, post(endpoint, request, token, signal)).catch((thrown: unknown) => {
      throw connectionLost(thrown);
    });
  };
  try {
    let response = await send();
    if (response.status === 401) {
      // The token may have expired between two refreshes.
      await response.body?.cancel();
      response = await send();
    }
    if (!response.ok) throw await errorOf(response);
    if (!response.body || !isEventStream(response)) throw invalidResponse(response.status);

    for await (const raw of eventStream(response.body, idleTimeoutMs)) {
      const event = decodeEvent(raw);
      if (event) yield event;
      if (event?.type === "answer_end" || event?.type === "refusal") return;
    }
    throw connectionLost();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  }
}

function post(
  endpoint: string,
  request: ChatRequest,
  token: string,
  signal: AbortSignal | undefined,
): Promise<Response> {
  return fetch(endpoint, {
    method: "POST",
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(request),
    // The token in the header is the only credential; cookies of the server's site have no part in this.
    credentials: "omit",
    ...(signal && { signal }),
  });
}

async function currentToken(
  tokenProvider: TokenProvider,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  let token: string | null;
  try {
    token = await within(timeoutMs, tokenProvider(), signal);
  } catch (thrown) {
    const message = thrown instanceof SilenceError ? SIGN_IN_SILENT : SIGN_IN;
    throw new ChatError("unauthorized", message, { retryable: true }, { cause: thrown });
  }
  if (!token) throw new ChatError("unauthorized", SIGN_IN, { retryable: false });
  return token;
}

const SIGN_IN = "Please sign in to ask a question.";
const SIGN_IN_AGAIN = "Your sign-in is no longer valid. Please sign out and in again.";
const SIGN_IN_SILENT = "Your sign-in could not be confirmed in time. Please try again.";

async function errorOf(response: Response): Promise<ChatError> {
  if (response.status === 401) return new ChatError("unauthorized", SIGN_IN_AGAIN, { retryable: false, status: 401 });
  const json = parseObject(await response.text().catch(() => ""));
  return decodeError(json, response.status, retryAfter(response));
}

/** Seconds of a Retry-After header; its date form is not used by the server. */
function retryAfter(response: Response): number | undefined {
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  return seconds >= 0 ? seconds : undefined;
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}
