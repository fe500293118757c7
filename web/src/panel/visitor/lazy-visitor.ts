import { ChatError } from "../../client/errors.js";
import type { TokenProvider } from "../../client/request.js";
import type { ChatConfig } from "../../client/wire.js";
import { lazyImport } from "../../lazy-import.js";
import type { PanelHost } from "../host.js";
import type { Visitor } from "./index.js";

const loadVisitor = lazyImport(() => import("./index.js"));

/** Signs visitors in without an account, if the page or the site says where. Its code is loaded when it is needed for the first time. */
export class LazyVisitor {
  /** Whether the latest call of the token provider found a visitor who will be signed in with the first question. */
  isNew = false;
  /** Whether the present visitor has asked something: from then on, the token provider signs them in. */
  hasAsked = false;
  readonly #host: PanelHost;
  readonly #config: () => Promise<ChatConfig>;
  #visitor: Visitor | undefined;

  /** `config` gives the settings of the site. */
  constructor(host: PanelHost, config: () => Promise<ChatConfig>) {
    this.#host = host;
    this.#config = config;
  }

  /** The server rejected the current token. */
  reject(): void {
    this.#visitor?.reject();
  }

  /** The visitor's token; `null` if visitors need an account, or before the first question. */
  readonly tokenProvider: TokenProvider = async () => {
    const { element: chat } = this.#host;
    const isSetByPage = chat.hasAttribute("supabase-url");
    const project = isSetByPage || chat.endpoint === "" ? undefined : (await this.#config()).anonymous;
    if (!isSetByPage && !project) return null;
    let token: string | null = null;
    if (this.#visitor || this.hasAsked || wasSignedIn()) {
      const { Visitor } = await loadVisitor();
      this.#visitor ??= new Visitor(this.#host, ChatError);
      token = await this.#visitor.token(project, this.hasAsked);
    }
    this.isNew = token === null;
    return token;
  };
}

/** Whether a visitor of this browser was signed in before, in whatever project. */
function wasSignedIn(): boolean {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith("evidence-chat:anonymous"));
  } catch {
    // Without storage, a session lasts as long as its page, and begins with a question.
    return false;
  }
}
