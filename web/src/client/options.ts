/** Gives the user's current access token, or `null` if nobody is signed in. */
export type TokenProvider = () => Promise<string | null>;

/** Where requests are sent, and as whom. */
export interface ChatClientOptions {
  /** URL of POST /api/chat; the other routes are found beside it. */
  readonly endpoint: string;
  /** Called for each request, and once more when the server answers 401. The widget also asks it who is there. */
  readonly tokenProvider: TokenProvider;
  /**
   * How long the token may take, and how long a response may be silent before it counts as cut; the server sends
   * heartbeats while it writes the history. 30,000 if it is not given.
   */
  readonly idleTimeoutMs?: number;
  /** Called when a response begins, whatever its status; twice for a request whose first token was refused. */
  readonly onResponse?: (response: ResponseInfo) => void;
}

/** What a response says about its making. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** The server's name for the request, for support. */
  readonly requestId: string | undefined;
  /** What the server's stages took until the response began, in milliseconds. */
  readonly serverTiming: Readonly<Record<string, number>>;
}
