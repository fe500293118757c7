import { ChatError, connectionLost, decodeError, invalidResponse, unreachable } from "./errors.js";
import { type JsonObject, parseObject } from "./json.js";

/** One request to the API. */
export interface ApiRequest {
  readonly url: string;
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly accept: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sends the request without a token. */
  readonly anonymous?: boolean;
}

/**
 * Sends a request and returns its successful response. Otherwise throws a `ChatError`, also after an abort; callers
 * turn that into the signal's reason with {@link withAbortReason}.
 */
export async function send(
  request: ApiRequest,
  options: ChatClientOptions,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const idleTimeoutMs = idleTimeout(options);
  const { tokenProvider, tokenTimeoutMs = idleTimeoutMs } = options;
  const attempt = async () => {
    const token = request.anonymous ? undefined : await currentToken(tokenProvider, tokenTimeoutMs, signal);
    const response = await withTimeout(idleTimeoutMs, dispatch(request, token, options, signal)).catch(
      (thrown: unknown) => {
        throw unreachable(thrown);
      },
    );
    report(response, options);
    return response;
  };
  let response = await attempt();
  if (response.status === 401 && !request.anonymous) {
    // The token may have expired since the page refreshed it.
    await response.body?.cancel();
    options.onTokenRejected?.();
    response = await attempt();
    if (response.status === 401) throw tokenRejected();
  }
  if (!response.ok) throw await errorOf(response, idleTimeoutMs);
  return response;
}

/** Sends a request and reads the JSON object of its response. */
export function sendForJson(
  request: Omit<ApiRequest, "accept">,
  options: ChatClientOptions,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  return withAbortReason(signal, async () => {
    const response = await send({ ...request, accept: "application/json" }, options, signal);
    const json = parseObject(await (await readAll(response, idleTimeout(options))).text());
    if (!json) throw invalidResponse(response.status);
    return json;
  });
}

/** Sends a request and ignores the body of its response. */
export function sendWithoutReply(
  request: Omit<ApiRequest, "accept">,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<void> {
  return withAbortReason(signal, async () => {
    await (await send({ ...request, accept: "application/json" }, options, signal)).body?.cancel();
  });
}

/**
 * Reads the whole body. Its type is application/octet-stream, so a `blob:` URL of it never opens as a page of this
 * origin. A body that is cut off, or silent for `idleTimeoutMs`, throws `connection_lost`.
 */
export async function readAll(response: Response, idleTimeoutMs: number): Promise<Blob> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (;;) {
      const piece = reader && (await withTimeout(idleTimeoutMs, reader.read()));
      if (!piece || piece.done) return new Blob(pieces, { type: "application/octet-stream" });
      pieces.push(piece.value);
    }
  } catch (thrown) {
    reader?.cancel().catch(() => undefined);
    throw connectionLost(thrown);
  }
}

/** Runs `work`; if it fails after an abort, throws the signal's reason. */
export async function withAbortReason<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  }
}

/** Milliseconds of silence after which a response counts as lost. */
export function idleTimeout({ idleTimeoutMs = 30_000 }: ChatClientOptions): number {
  return idleTimeoutMs;
}

function dispatch(
  { url, method = "GET", accept, body }: ApiRequest,
  token: string | undefined,
  { keepalive = false }: ChatClientOptions,
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
    // The token in the header is the only credential; no cookies.
    credentials: "omit",
    // A redirect could send the token to another server. The API has no redirects; a signed URL of a file may have one.
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
    headers,
  });
}

async function errorOf(response: Response, idleTimeoutMs: number): Promise<ChatError> {
  const body = await readAll(response, idleTimeoutMs).catch(() => undefined);
  return decodeError(parseObject((await body?.text()) ?? ""), response.status, retryAfter(response));
}

/** Seconds of a Retry-After header; the server does not use its date form. */
function retryAfter(response: Response): number | undefined {
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  return seconds >= 0 ? seconds : undefined;
}

/** The durations of a Server-Timing header in milliseconds, by name; entries without a duration are skipped. */
export function parseServerTiming(header: string | null): Readonly<Record<string, number>> {
  const durations = (header ?? "").split(",").flatMap((entry) => {
    const [, name, duration] = /^\s*([^\s;="]+)\s*;(?:.*;)?\s*dur\s*=\s*"?(\d+(?:\.\d+)?)/i.exec(entry) ?? [];
    return name === undefined ? [] : [[name, Number(duration)] as const];
  });
  return Object.fromEntries(durations);
}

/**
 * The URL of a route of the API; `path` is relative to the folder of POST /api/chat. In a page, the endpoint itself may
 * be relative to the page.
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
 * The user's token. Throws `unauthorized` if nobody is signed in, or if the provider fails, takes longer than
 * `timeoutMs`, or the signal aborts. A `ChatError` of the provider is thrown as it is.
 */
export async function currentToken(
  tokenProvider: TokenProvider,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  let token: string | null;
  try {
    token = await withTimeout(timeoutMs, tokenProvider(), signal);
  } catch (thrown) {
    if (thrown instanceof ChatError) throw thrown;
    throw new ChatError("unauthorized", UNCONFIRMED, { retryable: true, reason: "unconfirmed" }, { cause: thrown });
  }
  if (!token) throw new ChatError("unauthorized", SIGNED_OUT, { retryable: false, reason: "signed_out" });
  return token;
}

/** The server rejected a fresh token. */
function tokenRejected(): ChatError {
  return new ChatError("unauthorized", EXPIRED, { retryable: false, status: 401, reason: "expired" });
}

const SIGNED_OUT = "Please sign in to ask a question.";
const EXPIRED = "Your sign-in is no longer valid. Please sign out and in again.";
const UNCONFIRMED = "Your sign-in could not be confirmed. Please try again.";

/**
 * The promise's outcome, or an error if it takes longer than `milliseconds`. An abort rejects with the signal's reason,
 * for promises that do not watch the signal themselves.
 */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listening = new AbortController();
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing was received for ${milliseconds} ms.`)), milliseconds);
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { signal: listening.signal });
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}

/** The promise's outcome, or the signal's reason if that comes first. */
export function aborting<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Returns the user's current access token, or `null` if nobody is signed in. */
export type TokenProvider = () => Promise<string | null>;

/** The server and the user of requests. */
export interface ChatClientOptions {
  /** URL of POST /api/chat; the other routes are resolved relative to it. */
  readonly endpoint: string;
  /** Name of the assistant that is asked, and whose conversations are listed. Default: the site's default assistant. */
  readonly assistant?: string;
  /** Called for each request, and again after a 401. The widget also calls it to detect a change of user. */
  readonly tokenProvider: TokenProvider;
  /**
   * Time limit for the silence in a response before it counts as lost, in milliseconds; the server sends heartbeats while it stores a
   * message. Default: 30,000.
   */
  readonly idleTimeoutMs?: number;
  /** Time limit for the token, in milliseconds. Default: `idleTimeoutMs`. */
  readonly tokenTimeoutMs?: number;
  /** Sends requests even while the page is being left, provided that the token is available at once. Default: false. */
  readonly keepalive?: boolean;
  /** Called when the server has rejected a token, before `tokenProvider` is called again. */
  readonly onTokenRejected?: () => void;
  /** Called for each response, whatever its status; twice for a request whose first token was rejected. */
  readonly onResponse?: (response: ResponseInfo) => void;
}

/** Metadata of a response. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** The server's id of the request, for support. */
  readonly requestId: string | undefined;
  /** Duration of each stage on the server before the response began, in milliseconds. */
  readonly serverTiming: Readonly<Record<string, number>>;
  /** All headers that the client may read. */
  readonly headers: Headers;
}
