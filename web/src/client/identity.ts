import { asString, parseObject } from "./json.js";
import type { TokenProvider } from "./request.js";

/** Called when another user is signed in, or nobody (`null`) any more. The values are opaque ids, only good for comparison. */
export type IdentityChange = (previous: string, next: string | null) => void;

/** Detects from the tokens of requests when the user changes or signs out. */
export class Identity {
  readonly #provider: () => TokenProvider;
  readonly #onChange: IdentityChange;
  /** `undefined` until the first token. */
  #last: string | null | undefined;
  /** The last user who was signed in. */
  #user: string | undefined;
  /** Number of calls of the provider so far. */
  #calls = 0;
  /** Number of the latest call whose token was used. */
  #latest = 0;

  /** `provider` is called each time, because a page may replace its token provider. `user` is the last one, if known. */
  constructor(provider: () => TokenProvider, onChange: IdentityChange, user?: string) {
    this.#provider = provider;
    this.#onChange = onChange;
    this.#user = user;
  }

  /** The last user, also after their session has ended; `undefined` if none was known. An opaque id, only good for comparison. */
  get user(): string | undefined {
    return this.#user;
  }

  /**
   * Returns the token of the page's provider. Reports a change of user before it returns the new token. Never returns a stale token of
   * another user: asks again.
   */
  readonly tokenProvider: TokenProvider = async () => {
    const { token, isOther } = await this.#next();
    return isOther ? this.tokenProvider() : token;
  };

  /** Checks for a change of user. A provider that fails counts as no change. */
  async check(): Promise<void> {
    await this.#next().catch(() => undefined);
  }

  /** The token of the page's provider, and whether it is a stale one of another user. */
  async #next(): Promise<{ token: string | null; isOther: boolean }> {
    const call = ++this.#calls;
    const token = (await this.#provider()()) || null;
    const user = token === null ? null : userOf(token);
    // Ignores a token that arrives after the token of a later call: it is stale.
    if (user !== undefined && call > this.#latest) {
      this.#latest = call;
      this.#observe(user);
    }
    return { token, isOther: call < this.#latest && user !== this.#last };
  }

  #observe(next: string | null): void {
    // Who was signed in before nobody was may come back; another user may not take their place unnoticed.
    const previous = next === null ? this.#last : this.#user;
    this.#last = next;
    this.#user = next ?? this.#user;
    if (previous && previous !== next) this.#onChange(previous, next);
  }
}

/**
 * The user id in a token. It is not verified, because it only serves to detect changes. `undefined` for a malformed
 * token, which the server would reject.
 */
function userOf(token: string): string | undefined {
  return asString(parseObject(base64UrlText(token.split(".")[1] ?? ""))?.sub);
}

function base64UrlText(encoded: string): string {
  try {
    const bytes = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return "";
  }
}
