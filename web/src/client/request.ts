import { decodeError } from "./decode.js";
import { ChatError, connectionLost, invalidResponse } from "./errors.js";
import { type JsonObject, parseObject } from "./json.js";
import type { ChatClientOptions, TokenProvider } from "./options.js";
import { within } from "./within.js";

/** One request to the API. */
export interface ApiRequest {
  readonly url: string;
  /** GET if it is not given. */
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly accept: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sends it even if the page is being left. */
  readonly keepalive?: boolean;
  /** Sends no token. */
  readonly anonymous?: boolean;
}

/**
 * Sends a request and gives its response, whose status is a success. Everything else throws a `ChatError`; after an
 * abort that is up to the caller, see {@link abortFirst}.
 */
export async function send(
  request: ApiRequest,
  options: ChatClientOptions,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const idleTimeoutMs = idleTimeout(options);
  const attempt = async () => {
    const token = request.anonymous ? undefined : await currentToken(options.tokenProvider, idleTimeoutMs, signal);
    const response = await within(idleTimeoutMs, dispatch(request, token, signal)).catch((thrown: unknown) => {
      throw connectionLost(thrown);
    });
    report(response, options);
    return response;
  };
  let response = await attempt();
  if (response.status === 401 && !request.anonymous) {
    // The token may have expired between two refreshes.
    await response.body?.cancel();
    response = await attempt();
    if (response.status === 401) throw tokenRefused();
  }
  if (!response.ok) throw await errorOf(response, idleTimeoutMs);
  return response;
}

/** Sends a request and reads the JSON object that it is answered with. */
export function sendForJson(
  request: Omit<ApiRequest, "accept">,
  options: ChatClientOptions,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  return abortFirst(signal, async () => {
    const response = await send({ ...request, accept: "application/json" }, options, signal);
    const json = parseObject(await (await readAll(response, idleTimeout(options))).text());
    if (!json) throw invalidResponse(response.status);
    return json;
  });
}

/**
 * The whole body, of type application/octet-stream, so that a `blob:` address of it can never be a page of this origin. A body
 * that breaks off, or that brings nothing for `idleTimeoutMs`, throws `connection_lost`.
 */
export async function readAll(response: Response, idleTimeoutMs: number): Promise<Blob> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (;;) {
      const piece = reader && (await within(idleTimeoutMs, reader.read()));
      if (!piece || piece.done) return new Blob(pieces, { type: "application/octet-stream" });
      pieces.push(piece.value);
    }
  } catch (thrown) {
    reader?.cancel().catch(() => undefined);
    throw connectionLost(thrown);
  }
}

/** Does the work; if it fails after an abort, that is what is thrown: the signal's reason. */
export async function abortFirst<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  }
}

/** The silence, in milliseconds, after which a response counts as cut. */
export function idleTimeout({ idleTimeoutMs = 30_000 }: ChatClientOptions): number {
  return idleTimeoutMs;
}

function dispatch(
  { url, method = "GET", accept, body, keepalive = false }: ApiRequest,
  token: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      accept,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // The token in the header is the only credential; cookies of the server's site have no part in this.
    credentials: "omit",
    // A redirect could lead the token elsewhere; the API has none. A signed address of a file may have one.
    redirect: token === undefined ? "follow" : "error",
    keepalive,
    ...(signal && { signal }),
  });
}

function report({ status, headers }: Response, { onResponse }: ChatClientOptions): void {
  onResponse?.({
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    serverTiming: parseServerTiming(headers.get("server-timing")),
  });
}

async function errorOf(response: Response, idleTimeoutMs: number): Promise<ChatError> {
  const body = await readAll(response, idleTimeoutMs).catch(() => undefined);
  return decodeError(parseObject((await body?.text()) ?? ""), response.status, retryAfter(response));
}

/** Seconds of a Retry-After header; its date form is not used by the server. */
function retryAfter(response: Response): number | undefined {
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  return seconds >= 0 ? seconds : undefined;
}

/** The durations of a Server-Timing header in milliseconds, by name; entries without one are left out. */
export function parseServerTiming(header: string | null): Readonly<Record<string, number>> {
  const durations = (header ?? "").split(",").flatMap((entry) => {
    const [, name, duration] = /^\s*([^\s;="]+)\s*;(?:.*;)?\s*dur\s*=\s*"?(\d+(?:\.\d+)?)/i.exec(entry) ?? [];
    return name === undefined ? [] : [[name, Number(duration)] as const];
  });
  return Object.fromEntries(durations);
}

/**
 * The URL of another route of the API, beside POST /api/chat; `path` is relative to /api/. In a page, an endpoint may be
 * relative to it.
 */
export function apiUrl(
  endpoint: string,
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const chat = new URL(endpoint, globalThis.document?.baseURI);
  const url = new URL(path, chat.href.replace(/[?#].*$/, "").replace(/\/+$/, ""));
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

/**
 * The user's token. Throws `unauthorized` if nobody is signed in, or if that cannot be found out within `timeoutMs`; an
 * abort throws that error too, at once.
 */
export async function currentToken(
  tokenProvider: TokenProvider,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  let token: string | null;
  try {
    token = await within(timeoutMs, tokenProvider(), signal);
  } catch (thrown) {
    throw new ChatError("unauthorized", UNCONFIRMED, { retryable: true, reason: "unconfirmed" }, { cause: thrown });
  }
  if (!token) throw new ChatError("unauthorized", SIGNED_OUT, { retryable: false, reason: "signed_out" });
  return token;
}

/** The server refused a fresh token. */
export function tokenRefused(): ChatError {
  return new ChatError("unauthorized", EXPIRED, { retryable: false, status: 401, reason: "expired" });
}

const SIGNED_OUT = "Please sign in to ask a question.";
const EXPIRED = "Your sign-in is no longer valid. Please sign out and in again.";
const UNCONFIRMED = "Your sign-in could not be confirmed. Please try again.";
