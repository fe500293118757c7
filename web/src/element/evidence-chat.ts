import { createEmbedder, EmbedderError, isSupported } from "@evidence-chat/embedder";
import type { TokenProvider } from "../client/client.js";
import { connectionLost } from "../client/errors.js";
import type { ChatEvent, Citation, RefusalEvent } from "../client/wire.js";
import { Conversation, type Exchange } from "./conversation.js";
import { problemOf } from "./error-notice.js";
import type { ReplyView } from "./message-view.js";
import { type EmbedderFactory, ModelLoader, type ModelState } from "./model-loader.js";
import { adoptStyles } from "./styles.js";
import { supportLink } from "./support-link.js";
import { View } from "./view.js";

/** The element's events. They do not bubble: an `error` must not reach the page's error trackers. */
export interface EvidenceChatEventMap {
  ready: CustomEvent<{ fingerprint: string }>;
  message: CustomEvent<MessageDetail>;
  refusal: CustomEvent<RefusalEvent>;
  error: CustomEvent<{ code: string; message: string; error: unknown }>;
}

/** A question that was sent, or an answer that is complete. */
export interface MessageDetail {
  readonly role: "user" | "assistant";
  /** What the visitor reads, with the `[n]` markers. */
  readonly text: string;
  /** The answer's sources; empty for a question. */
  readonly citations: readonly Citation[];
  /** The session in the user's history; `undefined` before the first stored answer. */
  readonly sessionId: string | undefined;
}

const DEFAULT_HEADING = "Ask a question";

/**
 * `<evidence-chat endpoint="…/api/chat" model-url="/models/">`: a chat whose answers quote the knowledge base and cite
 * every passage. Set `tokenProvider` to say who is asking.
 */
export class EvidenceChatElement extends HTMLElement {
  static readonly observedAttributes = ["heading", "preload"];

  readonly #loader = new ModelLoader(
    (hooks) => this.#embedderFactory({ modelUrl: this.modelUrl || undefined, ...hooks }),
    (state) => this.#modelChanged(state),
  );
  readonly #conversation = new Conversation(
    () => this.#loader.ready(),
    () => ({ endpoint: this.endpoint, tokenProvider: this.#tokenProvider }),
  );
  readonly #view = new View({
    send: (question) => void this.ask(question),
    startOver: () => {
      this.reset();
      this.focus();
    },
    retryModel: () => this.#loader.load(),
  });
  #tokenProvider: TokenProvider = async () => null;
  #embedderFactory: EmbedderFactory = createEmbedder;
  #running: AbortController | undefined;
  #failed = false;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    adoptStyles(root);
    root.append(this.#view.root);
    this.#view.heading = DEFAULT_HEADING;
    root.addEventListener("focusin", () => this.#loader.load());
  }

  /** URL of POST /api/chat. */
  get endpoint(): string {
    return this.getAttribute("endpoint") ?? "";
  }

  set endpoint(url: string) {
    this.setAttribute("endpoint", url);
  }

  /** URL of the model file, or of its folder, with `/` at the end; empty: it is beside the script. */
  get modelUrl(): string {
    return this.getAttribute("model-url") ?? "";
  }

  set modelUrl(url: string) {
    this.setAttribute("model-url", url);
  }

  /** Gives the visitor's access token, or `null`; called for each request. */
  get tokenProvider(): TokenProvider {
    return this.#tokenProvider;
  }

  set tokenProvider(provider: TokenProvider) {
    this.#tokenProvider = provider;
  }

  /** Creates the embedder; replace it to serve worker and WebAssembly from elsewhere. */
  get embedderFactory(): EmbedderFactory {
    return this.#embedderFactory;
  }

  set embedderFactory(factory: EmbedderFactory) {
    this.#embedderFactory = factory;
  }

  connectedCallback(): void {
    this.#adoptEarlyProperty("tokenProvider");
    this.#adoptEarlyProperty("embedderFactory");
    // Where it cannot work, the visitor should know before typing a question.
    if (this.hasAttribute("preload") || !isSupported()) this.#loader.load();
    this.#showState();
  }

  disconnectedCallback(): void {
    // An element that is only moved is connected again by now.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#running?.abort(connectionLost());
      this.#loader.unload();
    });
  }

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    if (name === "heading") this.#view.heading = value ?? DEFAULT_HEADING;
    if (name === "preload" && value !== null && this.isConnected) this.#loader.load();
  }

  /** Puts the focus into the question box. */
  override focus(): void {
    this.#view.composer.focus();
  }

  /** Asks as if the visitor had typed the question; resolves when its outcome is shown. Ignored while one is running. */
  async ask(question: string): Promise<void> {
    if (question.trim() === "" || this.#running) return;
    const exchange = this.#conversation.begin(question.trim());
    const text = exchange.question;
    const reply = this.#view.addQuestion(text);
    this.#dispatch("message", { role: "user", text, citations: [], sessionId: this.#conversation.sessionId });
    await this.#run(exchange, reply);
  }

  /** Forgets the conversation and the unsent draft; the next question starts a new session. */
  reset(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#failed = false;
    this.#conversation.reset();
    this.#view.clear();
    this.#showState();
  }

  async #run(exchange: Exchange, reply: ReplyView): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.#failed = false;
    this.#showState();
    try {
      let citations: readonly Citation[] = [];
      for await (const event of this.#conversation.run(exchange, running.signal)) {
        if (event.type === "sources") citations = event.citations;
        this.#view.following(() => this.#showEvent(event, exchange, reply));
        if (event.type === "answer_end") {
          this.#dispatch("message", {
            role: "assistant",
            text: reply.answerText,
            citations,
            sessionId: this.#conversation.sessionId,
          });
        }
      }
    } catch (thrown) {
      // Where reset() ended the question, its reply is gone, too.
      if (this.#running !== running) return;
      // An element taken from the page ended it: the reason says so better than what that broke.
      const error: unknown = running.signal.aborted ? running.signal.reason : thrown;
      this.#failed = true;
      if (error instanceof EmbedderError && error.code === "crashed") this.#loader.unload();
      const problem = problemOf(error);
      this.#view.following(() => reply.fail(problem, () => this.#retry(exchange, reply)));
      this.#dispatch("error", { code: problem.code, message: problem.message, error });
    } finally {
      if (this.#running === running) this.#running = undefined;
      this.#showState();
    }
  }

  #retry(exchange: Exchange, reply: ReplyView): void {
    if (this.#running) return;
    reply.wait();
    void this.#run(exchange, reply);
    // The button that had the focus is gone.
    this.focus();
  }

  #showEvent(event: ChatEvent, { question }: Exchange, reply: ReplyView): void {
    if (event.type !== "refusal") return reply.apply(event);
    const { composer } = this.#view;
    reply.refuse(event, {
      rephrase: () => composer.offer(question),
      supportUrl: supportLink(this.getAttribute("support-url")),
      suggest: (text) => composer.offer(text),
    });
    this.#dispatch("refusal", event);
  }

  #modelChanged(state: ModelState): void {
    this.#view.showModel(state);
    this.#showState();
    if (state.status === "ready") this.#dispatch("ready", { fingerprint: state.embedder.fingerprint });
    if (state.status === "failed" || state.status === "unsupported") {
      const { code, message } = problemOf(state.error);
      this.#dispatch("error", { code, message, error: state.error });
    }
  }

  #showState(): void {
    this.#view.composer.busy = this.#running !== undefined;
    this.dataset.state = this.#state();
  }

  #state(): "idle" | "loading" | "ready" | "busy" | "error" {
    const { status } = this.#loader.state;
    if (status === "timed_out" || status === "failed" || status === "unsupported") return "error";
    if (status === "loading") return "loading";
    if (this.#running) return "busy";
    return this.#failed ? "error" : status;
  }

  #dispatch<K extends keyof EvidenceChatEventMap>(type: K, detail: EvidenceChatEventMap[K]["detail"]): void {
    this.dispatchEvent(new CustomEvent(type, { detail, composed: true }));
  }

  /** A property that was set before the element was defined hides the accessor of the same name: set it again. */
  #adoptEarlyProperty(name: "tokenProvider" | "embedderFactory"): void {
    if (!Object.hasOwn(this, name)) return;
    const { [name]: value } = this;
    delete (this as Partial<Record<typeof name, unknown>>)[name];
    Object.assign(this, { [name]: value });
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "evidence-chat": EvidenceChatElement;
  }
}
