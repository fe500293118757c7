/** Sign-in of visitors without an account. Loads only where it is used. */
import { AnonymousSession, AnonymousSignInError } from "../../client/anonymous.js";
import type { ChatError } from "../../client/errors.js";
import { asString, optional } from "../../client/json.js";
import type { ChatConfig } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import type { PanelHost } from "../host.js";
import { turnstileToken } from "./turnstile.js";

/** Where visitors are signed in. */
export type Project = NonNullable<ChatConfig["anonymous"]>;

/** The visitor of one widget, in one project and for one server at a time. */
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

  /**
   * The visitor's token. Signs the visitor in if that is allowed and necessary; otherwise `null`. `fromServer` applies if the element
   * has no attributes for it.
   */
  async token(fromServer: Project | undefined, maySignIn: boolean): Promise<string | null> {
    const project = fromServer ?? this.#fromAttributes();
    const { endpoint } = this.#host.element;
    const name = JSON.stringify([project, endpoint]);
    if (name !== this.#project) this.#session = undefined;
    this.#project = name;
    this.#session ??= this.#open(project, endpoint);
    if (!maySignIn) return this.#session.currentToken();
    return this.#session.signIn().catch((thrown: unknown) => {
      throw this.#asChatError(thrown);
    });
  }

  /** The server rejected the current token. */
  reject(): void {
    this.#session?.reject();
  }

  #fromAttributes(): Project {
    const { element } = this.#host;
    return {
      supabase_url: element.getAttribute("supabase-url") ?? "",
      publishable_key: element.getAttribute("supabase-key") ?? "",
      ...optional("turnstile_site_key", asString(element.getAttribute("turnstile-site-key"))),
    };
  }

  #open({ supabase_url, publishable_key, turnstile_site_key: siteKey }: Project, endpoint: string): AnonymousSession {
    return new AnonymousSession({
      supabaseUrl: supabase_url,
      supabaseKey: publishable_key,
      endpoint,
      captchaToken: siteKey === undefined ? undefined : () => this.#captchaToken(siteKey),
    });
  }

  /** Turnstile does not work inside a shadow tree, so it gets a child of the element, which a slot shows in the panel. */
  async #captchaToken(siteKey: string): Promise<string> {
    const { element: chat, frame, translator } = this.#host;
    const slot = element("slot", { name: "captcha" });
    const container = element("div", { slot: "captcha" });
    frame.status.append(slot);
    chat.append(container);
    try {
      return await turnstileToken(siteKey, container, translator.language);
    } finally {
      container.remove();
      slot.remove();
    }
  }

  /** The error that the visitor sees. What the owner can do about it is in the console. */
  #asChatError(thrown: unknown): unknown {
    if (!(thrown instanceof AnonymousSignInError)) return thrown;
    const { code, message, retryAfterSeconds } = thrown;
    console.error("<evidence-chat>: the visitor could not be signed in:", message);
    if (code === "disabled") return new this.#ChatError("forbidden", message, { retryable: false }, { cause: thrown });
    // Other failures are shown like those of a page's own sign-in.
    if (retryAfterSeconds === undefined) return thrown;
    const details = { retryable: true, reason: "visitors_limited", retryAfterSeconds } as const;
    return new this.#ChatError("rate_limited", message, details, { cause: thrown });
  }
}
