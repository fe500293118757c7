import type { TokenProvider } from "../client/client.js";
import { adoptStyles } from "../dom/styles.js";
import { Translator } from "../dom/translator.js";
import type { Panel } from "../panel/index.js";
import type { EmbedderFactory } from "../panel/model/model-loader.js";
import type { Texts } from "../texts/index.js";
import { ColorScheme } from "./color-scheme.js";
import { isComposing } from "./composer.js";
import type { Dispatch } from "./events.js";
import css from "./frame.css";
import { Frame } from "./frame.js";
import { Speech } from "./speech.js";

/** Where the widget stands: in the flow of the page, or behind a button in its corner. */
export type Mode = "inline" | "floating";

/** What a page may set before the element is defined. */
const EARLY_PROPERTIES = ["endpoint", "embedderFactory", "mode", "modelUrl", "texts", "tokenProvider"] as const;

/**
 * `<evidence-chat endpoint="…/api/chat" model-url="/models/">`: a chat whose answers quote the knowledge base and cite
 * every passage. Set `tokenProvider` to say who is asking. Until the visitor turns to it, only a small launcher is loaded.
 *
 * @tagname evidence-chat
 * @slot - Greeting before the first question; wins over the attribute `greeting` and the server's own.
 *
 * @attr {string} endpoint - URL of POST /api/chat.
 * @attr {string} model-url - URL of the model file, or of its folder with `/` at the end. Default: beside the script.
 * @attr {string} lang - Language of the widget: en, de, es, fr, ar or ja. Default: the page's.
 * @attr {"light" | "dark" | "auto"} theme - Default: auto, what the visitor prefers.
 * @attr {"inline" | "floating"} mode - Default: inline.
 * @attr {string} heading - Title of the panel.
 * @attr {string} greeting - Text before the first question.
 * @attr {string} support-url - Where "Contact support" leads: https:, http: or mailto:.
 * @attr {boolean} preload - Load panel and model at once instead of on hover, focus or open.
 *
 * @fires ready - The model is loaded. Detail: `{fingerprint}`.
 * @fires message - A question was sent, or an answer is complete. Detail: `{role, text, hedged, citations, alsoFound, sessionId}`.
 * @fires refusal - There is not enough evidence for an answer. Detail: the refusal.
 * @fires citation-open - The visitor looks at a source. Detail: `{citation}`.
 * @fires stage - A question has come one step further. Detail: `{stage, milliseconds, …}`.
 * @fires error - Something failed, and the visitor was told. Detail: `{code, message, error}`.
 *
 * @cssprop --evidence-chat-accent - Colour of what can be pressed.
 * @cssprop --evidence-chat-radius - Roundness of the panel's corners.
 * @cssprop --evidence-chat-font - Font family.
 *
 * @csspart launcher - The floating button.
 * @csspart panel - The whole panel.
 * @csspart header - Its head.
 * @csspart heading - Its title.
 * @csspart close - The button that closes a floating panel.
 * @csspart log - The conversation.
 * @csspart composer - The question box with its surroundings.
 * @csspart input - The question box itself.
 * @csspart send - The button that sends.
 * @csspart stop - The button that stops an answer.
 * @csspart message - A question or a reply.
 * @csspart question - A question.
 * @csspart reply - A reply.
 * @csspart hedge - The line above an answer that may miss the question.
 * @csspart answer - The text of an answer.
 * @csspart marker - A numbered badge in an answer.
 * @csspart citation-card - The card of a badge.
 * @csspart sources - The list of sources.
 * @csspart source - A source.
 * @csspart also-found - The list of passages that were found and are not quoted.
 * @csspart found - A passage in it.
 * @csspart quote - Quoted words in a passage.
 * @csspart refusal - A refusal.
 * @csspart suggestion - A suggestion of a refusal.
 * @csspart suggested - A suggested question.
 * @csspart error - An error.
 * @csspart retry - A button that tries again.
 * @csspart status - The notice about the model.
 * @csspart new - The button that starts a new conversation.
 * @csspart references - The export of references.
 * @csspart history - The list of past conversations.
 * @csspart history-item - A conversation in it.
 * @csspart history-undo - The notice of a deletion that can be undone.
 * @csspart my-data - The export and the deletion of the visitor's data.
 */
export class EvidenceChatElement extends HTMLElement {
  static readonly observedAttributes = ["endpoint", "greeting", "heading", "lang", "mode", "preload", "theme"];

  readonly #translator = new Translator();
  readonly #frame = new Frame(this.#translator.t, {
    send: (question) => void this.ask(question),
    open: () => (this.#frame.isOpen ? this.close() : this.open()),
    close: () => this.close(),
  });
  readonly #colors = new ColorScheme(this.#frame.root);
  readonly #shadow: ShadowRoot;
  readonly #speech = new Speech(this.#translator, this.#frame.root);
  #texts: Partial<Texts> = {};
  #tokenProvider: TokenProvider = () => Promise.resolve(null);
  #embedderFactory: EmbedderFactory | undefined;
  #loading: Promise<Panel | undefined> | undefined;
  #panel: Panel | undefined;
  #hasFailedToLoad = false;
  /** The greeting of the site's settings. */
  #siteGreeting: string | undefined;
  /** Counts the calls of `clear`: a question that was asked before one is not asked after it. */
  #clears = 0;
  readonly #pageLanguage = new MutationObserver(() => this.#speak());

  constructor() {
    super();
    this.#shadow = this.attachShadow({ mode: "open" });
    adoptStyles(this.#shadow, css);
    this.#shadow.append(this.#frame.root);
    const { root, panel } = this.#frame;
    for (const intent of ["pointerenter", "pointerdown", "focusin"]) {
      root.addEventListener(intent, () => this.#hasFailedToLoad || void this.#load());
    }
    // Whoever goes to the question box is about to ask, and the model takes longest to load.
    panel.addEventListener("focusin", () => this.#hasFailedToLoad || this.#preload());
    panel.addEventListener("keydown", (event) => this.#onKey(event));
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

  /** In the flow of the page, or behind a button in its corner. */
  get mode(): Mode {
    return this.getAttribute("mode") === "floating" ? "floating" : "inline";
  }

  set mode(mode: Mode) {
    this.setAttribute("mode", mode);
  }

  /** Gives the visitor's access token, or `null`; called for each request, and to see who is there. */
  get tokenProvider(): TokenProvider {
    return this.#tokenProvider;
  }

  set tokenProvider(provider: TokenProvider) {
    this.#tokenProvider = provider;
  }

  /** Creates the embedder; `createEmbedder` of `@evidence-chat/embedder` unless it is set, before the panel opens. */
  get embedderFactory(): EmbedderFactory | undefined {
    return this.#embedderFactory;
  }

  set embedderFactory(factory: EmbedderFactory | undefined) {
    this.#embedderFactory = factory;
  }

  /** Texts that replace the widget's own, by key (see `web/src/texts/`). */
  get texts(): Partial<Texts> {
    return this.#texts;
  }

  set texts(texts: Partial<Texts>) {
    this.#texts = texts;
    this.#speak();
  }

  connectedCallback(): void {
    for (const name of EARLY_PROPERTIES) this.#adoptEarlyProperty(name);
    this.#frame.mode = this.mode;
    this.#colors.connect();
    this.#pageLanguage.observe(document.documentElement, { attributeFilter: ["lang"] });
    this.#speak();
    this.dataset.state ??= "idle";
    if (this.hasAttribute("preload")) this.#preload();
    this.#panel?.connect();
  }

  disconnectedCallback(): void {
    this.#colors.disconnect();
    this.#pageLanguage.disconnect();
    // An element that is only moved is connected again by now.
    queueMicrotask(() => {
      if (!this.isConnected) this.#panel?.disconnect();
    });
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (name === "endpoint" && value !== before) this.#panel?.endpointChanged(before ?? "");
    if (name === "theme") this.#colors.theme = value;
    if (name === "mode") {
      this.#frame.mode = this.mode;
      this.#panel?.modeChanged();
    }
    if (name === "preload" && value !== null && this.isConnected) this.#preload();
    if (name === "greeting" || name === "heading" || name === "lang") this.#speak();
  }

  /** Opens a floating panel and puts the focus into the question box. */
  open(): void {
    this.#frame.isOpen = true;
    this.focus();
    void this.#load().then((panel) => this.isConnected && panel?.opened());
  }

  /** Closes a floating panel; the conversation stays. */
  close(): void {
    const hadFocus = this.#shadow.activeElement !== null;
    this.#frame.isOpen = false;
    this.#panel?.closed();
    if (hadFocus && this.mode === "floating") this.#frame.launcher.focus();
  }

  /** Puts the focus into the question box. */
  override focus(options?: FocusOptions): void {
    this.#frame.composer.focus(options);
  }

  /** Asks as if the visitor had typed the question; resolves when its outcome is shown. Ignored while one is running. */
  async ask(question: string): Promise<void> {
    if (question.trim() === "") return;
    this.#frame.isOpen = true;
    const { composer } = this.#frame;
    // The panel says itself whether it is busy, as soon as it is there.
    if (!this.#panel) composer.busy = true;
    const clears = this.#clears;
    const panel = await this.#load();
    if (clears !== this.#clears) return;
    if (panel) return panel.ask(question.trim());
    composer.busy = false;
    composer.value ||= question;
  }

  /** Forgets the conversation and the unsent draft; the next question starts a new session. Call it at sign-out. */
  clear(): void {
    this.#clears++;
    this.#frame.composer.value = "";
    this.#panel?.clear();
  }

  /** Loads panel and model. */
  #preload(): void {
    void this.#load().then((panel) => this.isConnected && panel?.loadModel());
  }

  /** Loads the panel's code, once. A load that failed is told, gives `undefined`, and is tried again the next time. */
  #load(): Promise<Panel | undefined> {
    this.#loading ??= this.#create().catch((error: unknown) => {
      this.#loading = undefined;
      this.#hasFailedToLoad = true;
      this.#frame.complain(this.#translator.t, () => {
        // The button goes, whatever comes of it.
        this.focus();
        this.#preload();
      });
      this.#frame.composer.busy = false;
      this.dataset.state = "error";
      const message = this.#translator.say("loadFailed");
      this.#dispatch("error", { code: "load_failed", message, error });
      return undefined;
    });
    return this.#loading;
  }

  async #create(): Promise<Panel> {
    const [{ createPanel }] = await Promise.all([import("../panel/index.js"), this.#speech.loadPanelTexts()]);
    this.#frame.status.replaceChildren();
    this.#hasFailedToLoad = false;
    this.dataset.state = "idle";
    this.#panel = createPanel({
      element: this,
      shadow: this.#shadow,
      frame: this.#frame,
      translator: this.#translator,
      dispatch: this.#dispatch,
      greet: (greeting) => {
        this.#siteGreeting = greeting;
        this.#speak();
      },
    });
    if (this.isConnected) this.#panel.connect();
    return this.#panel;
  }

  /** Shows what the page says in attributes, in the widget's language. */
  #speak(): void {
    this.#speech.use(this, this.#texts);
    this.#frame.title = this.getAttribute("heading") ?? this.#translator.t("heading");
    this.#frame.greeting = this.getAttribute("greeting") ?? this.#siteGreeting ?? this.#translator.t("intro");
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented || isComposing(event) || this.mode !== "floating") return;
    event.preventDefault();
    this.close();
  }

  readonly #dispatch: Dispatch = (type, detail) => {
    this.dispatchEvent(new CustomEvent(type, { detail, composed: true }));
  };

  /** A property that was set before the element was defined hides the accessor of the same name: set it again. */
  #adoptEarlyProperty(name: (typeof EARLY_PROPERTIES)[number]): void {
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
