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
}
