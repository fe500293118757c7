import { asString, parseObject } from "./json.js";
import type { TokenProvider } from "./options.js";

/** Called when somebody else is signed in than before; `null` is nobody. The names are opaque: compare them only. */
export type IdentityChange = (previous: string | null, next: string | null) => void;

/** Notices, from the tokens that requests use, when the user changes or signs out. */
export class Identity {
  readonly #provider: () => TokenProvider;
  readonly #onChange: IdentityChange;
  /** `undefined` until the first token. */
  #last: string | null | undefined;
  #asked = 0;
  #newestAnswer = 0;

  /** `provider` is asked anew each time, since a page may replace it. */
  constructor(provider: () => TokenProvider, onChange: IdentityChange) {
    this.#provider = provider;
    this.#onChange = onChange;
  }

  /** Gives what the page's provider gives; a change is told before anybody can use the new token. */
  readonly tokenProvider: TokenProvider = async () => {
    const order = ++this.#asked;
    const token = (await this.#provider()()) || null;
    const user = token === null ? null : userOf(token);
    // An answer that was overtaken by that to a later question is about the past.
    if (user !== undefined && order > this.#newestAnswer) {
      this.#newestAnswer = order;
      this.#observe(user);
    }
    return token;
  };

  /** Asks who is signed in, only to notice a change. A provider that fails says nothing about that. */
  async check(): Promise<void> {
    await this.tokenProvider().catch(() => undefined);
  }

  #observe(next: string | null): void {
    const previous = this.#last;
    if (previous === undefined && next === null) return;
    this.#last = next;
    if (previous !== undefined && previous !== next) this.#onChange(previous, next);
  }
}

/**
 * The user that a token names, unverified: nothing but changes of it matter. A token that cannot be read says nothing
 * about who is there, and gets nothing from the server.
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
