/** Sign-in of visitors without an account. Loads only where it is used. */
import { type AnonymousErrorCode, AnonymousSession, AnonymousSignInError } from "../../client/anonymous.js";
import type { ChatError, ChatErrorCode, ChatErrorReason } from "../../client/errors.js";
import type { ChatConfig } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import type { PanelHost } from "../host.js";
import { turnstileToken } from "./turnstile.js";

/** Where visitors are signed in. */
export type Project = NonNullable<ChatConfig["anonymous"]>;

/** The visitor of one widget, in one project at a time. */
export class Visitor {
  readonly #host: PanelHost;
  readonly #ChatError: typeof ChatError;
  #project = "";
  #session: AnonymousSession | undefined;

  /** `chatError` is the class of the panel: this file has its own copy, which `instanceof` does not know there. */
  constructor(host: PanelHost, chatError: typeof ChatError) {
    this.#host = host;
    this.#ChatError = chatError;
  }

  /** The visitor's token. Signs the visitor in if that is allowed and necessary; otherwise `null`. */
  async token(project: Project, maySignIn: boolean): Promise<string | null> {
    const name = JSON.stringify(project);
    if (name !== this.#project) this.#session = undefined;
    this.#project = name;
    this.#session ??= this.#open(project);
    if (!maySignIn) return this.#session.currentToken();
    return this.#session.signIn().catch((thrown: unknown) => {
      throw this.#asChatError(thrown);
    });
  }

  /** The server rejected the current token. */
  reject(): void {
    this.#session?.reject();
  }

  #open({ supabase_url, publishable_key, turnstile_site_key: siteKey }: Project): AnonymousSession {
    return new AnonymousSession({
      supabaseUrl: supabase_url,
      supabaseKey: publishable_key,
      captchaToken: siteKey === undefined ? undefined : () => this.#captchaToken(siteKey),
    });
  }

  /** Turnstile does not work inside a shadow tree, so it gets a child of the element, which the panel shows in a slot. */
  async #captchaToken(siteKey: string): Promise<string> {
    const container = element("div", { slot: "captcha" });
    this.#host.element.append(container);
    try {
      return await turnstileToken(siteKey, container, this.#host.translator.language);
    } finally {
      container.remove();
    }
  }

  /** The error that the visitor sees. What the owner can do about it is in the console. */
  #asChatError(thrown: unknown): unknown {
    if (!(thrown instanceof AnonymousSignInError)) return thrown;
    const { code, message, retryAfterSeconds } = thrown;
    console.error("<evidence-chat>: the visitor could not be signed in:", message);
    const known = ERRORS[code];
    if (!known) return thrown;
    const details = {
      retryable: code !== "disabled",
      reason: known.reason,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
    return new this.#ChatError(known.code, message, details, { cause: thrown });
  }
}

/** Other failures are shown like those of a page's own sign-in. */
const ERRORS: { readonly [code in AnonymousErrorCode]?: { code: ChatErrorCode; reason: ChatErrorReason } } = {
  disabled: { code: "unauthorized", reason: "visitors_disabled" },
  rate_limited: { code: "rate_limited", reason: "visitors_limited" },
  captcha: { code: "unauthorized", reason: "captcha_failed" },
};
