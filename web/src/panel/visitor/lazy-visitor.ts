import { storageKey } from "../../client/anonymous-key.js";
import { ChatError } from "../../client/errors.js";
import type { TokenProvider } from "../../client/options.js";
import type { ChatConfig } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import type { PanelHost } from "../host.js";
import type { Project, Visitor } from "./index.js";

/** Signs visitors in without an account, if the page or the site says where. Its code is loaded when it is needed for the first time. */
export class LazyVisitor {
  /** Whether the latest call of the token provider found a visitor who will be signed in with the first question. */
  isNew = false;
  /** Shows the CAPTCHA. */
  readonly root = element("slot", { name: "captcha" });
  readonly #host: PanelHost;
  readonly #config: () => Promise<ChatConfig>;
  #hasAsked = false;
  #visitor: Visitor | undefined;

  /** `config` gives the settings of the site. */
  constructor(host: PanelHost, config: () => Promise<ChatConfig>) {
    this.#host = host;
    this.#config = config;
  }

  /** The visitor asks something: from now on, the token provider signs them in. */
  asked(): void {
    this.#hasAsked = true;
  }

  /** The server rejected the current token. */
  reject(): void {
    this.#visitor?.reject();
  }

  /** The visitor's token; `null` if visitors need an account, or before the first question. */
  readonly tokenProvider: TokenProvider = async () => {
    const project = await this.#project();
    this.isNew = project !== undefined && !(this.#hasAsked || isStored(project));
    if (!project || this.isNew) return null;
    const { Visitor } = await import("./index.js");
    this.#visitor ??= new Visitor(this.#host, ChatError);
    return this.#visitor.token(project, this.#hasAsked);
  };

  /** The attributes of the element, or else the settings of the site. */
  async #project(): Promise<Project | undefined> {
    const chat = this.#host.element;
    const [supabase_url, publishable_key, turnstile_site_key] = [
      "supabase-url",
      "supabase-key",
      "turnstile-site-key",
    ].map((name) => chat.getAttribute(name) || undefined);
    if (supabase_url && publishable_key)
      return { supabase_url, publishable_key, ...(turnstile_site_key && { turnstile_site_key }) };
    return chat.endpoint === "" ? undefined : (await this.#config()).anonymous;
  }
}

/** Whether a visitor of this browser was signed in before. */
function isStored({ supabase_url }: Project): boolean {
  try {
    return localStorage.getItem(storageKey(supabase_url)) !== null;
  } catch {
    // Without storage, a session lasts as long as its page, and begins with a question.
    return false;
  }
}
