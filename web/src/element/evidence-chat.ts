import type { TokenProvider } from "../client/request.js";
import { BaseElement, set } from "../dom/element.js";
import { lazyImport } from "../lazy-import.js";
import { adoptStyles } from "../dom/styles.js";
import { Translator } from "../dom/translator.js";
import type { SiteTexts } from "../panel/host.js";
import type { Panel } from "../panel/index.js";
import type { EmbedderFactory } from "../panel/model/model-loader.js";
import type { WriterLoader } from "../panel/writer/writer-source.js";
import type { Texts } from "../texts/index.js";
import { defaultEndpoint, isShortcut, type Mode, type Position } from "./attributes.js";
import { isComposing } from "./composer.js";
import type { Dispatch } from "./events.js";
import { ColorScheme, Frame, Launcher } from "./frame.js";
import { LocaleController } from "./locale.js";
import { TabMemory } from "./tab-memory.js";
import controlStyles from "./controls.css";
import frameStyles from "./frame.css";

const DEFAULT_ENDPOINT = defaultEndpoint(import.meta.url);

const loadPanel = lazyImport(() => import("../panel/index.js"));

/**
 * `<evidence-chat>`: a chat whose answers quote the knowledge base and cite every passage. Set `tokenProvider` to identify the user.
 * Only a small launcher loads until the visitor uses the widget.
 *
 * @tagname evidence-chat
 * @slot - Greeting before the first question; takes precedence over the attribute `greeting` and the server's greeting.
 *
 * @attr {string} endpoint - URL of POST /api/chat. Default: that of the Worker that serves the script as /evidence-chat.js.
 * @attr {string} assistant - Name of the assistant that answers. Default: the site's default assistant.
 * @attr {string} model-url - URL of the model file, or of its folder with `/` at the end. Default: next to the script, or the
 *   file of `@evidence-chat/embedder` where a bundler or a CDN for npm packages has it.
 * @attr {string} supabase-url - URL of the Supabase project that signs visitors in without an account. Default: the server's, if any.
 * @attr {string} supabase-key - Publishable key of that project.
 * @attr {string} turnstile-site-key - Site key of Cloudflare Turnstile, if the project asks for a CAPTCHA.
 * @attr {"site" | "extractive"} answer-mode - `extractive`: answers only quote. Default: site, the site's setting.
 * @attr {string} writer-model-url - URL of a GGUF file: a language model that writes on the visitor's device (answer mode on_device).
 * @attr {string} writer-model-size - Size of that file in bytes, which visitors are told before the download. Default: the server's.
 * @attr {string} writer-model-sha256 - SHA-256 of that file as hex; another file is rejected.
 * @attr {string} writer-url - URL of the module `@evidence-chat/writer`. Default: writer/index.js next to the script.
 * @attr {string} lang - Language of the widget: en, de, es, fr, ar or ja. Default: the page's.
 * @attr {"light" | "dark" | "auto"} theme - Default: auto, the visitor's preference.
 * @attr {"inline" | "floating"} mode - Default: inline.
 * @attr {"start" | "end"} position - Side of the window where a floating widget is, in its direction of text. Default: end.
 * @attr {string} heading - Title of the panel.
 * @attr {string} greeting - Text before the first question.
 * @attr {string} support-url - Target of "Contact support": a page, with `{question}` for the question, mailto:, or #place. Default: the server's.
 * @attr {string} shortcut - Keys that open the widget, separated by spaces: `mod+k` is the command key or Ctrl with that key, which also
 *   closes a floating panel; `/` is the key alone. `off`: none. Default: `mod+k /`. Not in fields, nor if the page handles the key.
 * @attr {"on" | "off"} instant-results - `off`: no results are shown while a question is typed. Default: on.
 * @attr {"on" | "off"} feedback - `off`: visitors are not asked whether an answer helped. Default: on.
 * @attr {"on" | "off"} reader - `off`: no model reads the passages with the question before it is sent. Default: on.
 * @attr {boolean} preload - Load panel and model immediately instead of on hover, focus or open.
 *
 * @fires ready - The model is loaded. Detail: `{fingerprint}`.
 * @fires message - A question was sent or an answer is complete. Detail: `{role, text, mode, generation, hedged, citations, alsoFound, sessionId}`.
 * @fires refusal - There is not enough evidence for an answer. Detail: the refusal.
 * @fires contact - The visitor wants to contact people. Cancelable; the default is to open support-url. Detail: `{question, sessionId}`.
 * @fires citation-open - The visitor opened a source. Detail: `{citation}`.
 * @fires stage - A question reached the next stage. Detail: `{stage, milliseconds, …}`.
 * @fires error - Something failed and the visitor sees an error message. Detail: `{code, message, error}`.
 *
 * @cssprop --evidence-chat-accent - Colour of buttons and links.
 * @cssprop --evidence-chat-radius - Corner radius of the panel.
 * @cssprop --evidence-chat-font - Font family.
 *
 * @csspart launcher - The floating button.
 * @csspart panel - The whole panel.
 * @csspart header - The head of the panel.
 * @csspart heading - The title of the panel.
 * @csspart close - The button that closes a floating panel.
 * @csspart log - The conversation.
 * @csspart composer - The question box with its hint and buttons.
 * @csspart input - The question box itself.
 * @csspart results - The results while a question is typed.
 * @csspart result - One of these results.
 * @csspart send - The button that sends.
 * @csspart stop - The button that stops an answer.
 * @csspart message - A question or a reply.
 * @csspart question - A question.
 * @csspart reply - A reply.
 * @csspart hedge - The warning above an answer that may not answer the question.
 * @csspart answer - The text of an answer.
 * @csspart chain - Words of an answer that a quoted sentence gets from around it.
 * @csspart generated-note - The note below an answer that a language model wrote.
 * @csspart on-device - The answer that is written on this device, or its offer.
 * @csspart marker - A numbered badge in an answer.
 * @csspart citation-card - The card of a badge.
 * @csspart sources - The list of sources.
 * @csspart source - A source.
 * @csspart also-found - The list of passages that the answer does not quote.
 * @csspart found - A passage in that list.
 * @csspart quote - Quoted words in a passage.
 * @csspart refusal - A refusal.
 * @csspart suggestion - A suggestion of a refusal.
 * @csspart suggested - A suggested question.
 * @csspart error - An error.
 * @csspart retry - A button that tries again.
 * @csspart privacy - The notice about where questions are sent.
 * @csspart status - The notice about the model.
 * @csspart new - The button that starts a new conversation.
 * @csspart references - The export of references.
 * @csspart history - The list of past conversations.
 * @csspart history-item - A conversation in that list.
 * @csspart history-undo - The notice of a deletion that can be undone.
 * @csspart my-data - The export and the deletion of the visitor's data.
 */
export class EvidenceChatElement extends BaseElement {
  static readonly observedAttributes = [
    "answer-mode",
    "assistant",
    "endpoint",
    "greeting",
    "heading",
    "lang",
    "mode",
    "preload",
    "theme",
  ];

  readonly #translator = new Translator();
  readonly #launcher = new Launcher(this.#translator.t, () => (this.#launcher.isOpen ? this.close() : this.open()));
  /** `undefined` until a visitor wants to ask. */
  #drawn: Frame | undefined;
  readonly #colors = new ColorScheme(this.#launcher.root);
  readonly #shadow: ShadowRoot;
  readonly #memory = new TabMemory(this);
  readonly #locale = new LocaleController(this.#translator, this.#launcher.root);
  #texts: Partial<Texts> = {};
  #tokenProvider: TokenProvider | undefined;
  #embedderFactory: EmbedderFactory | undefined;
  #writerLoader: WriterLoader | undefined;
  #loading: Promise<Panel | undefined> | undefined;
  #panel: Panel | undefined;
  #hasFailedToLoad = false;
  /** Title and greeting from the site's settings. */
  #site: SiteTexts = {};
  /** Number of calls of `clear`; a question that waits for the panel is dropped if it changes. */
  #clears = 0;
  readonly #onPageKey = (event: KeyboardEvent): void => {
    if (!isShortcut(event, this.getAttribute("shortcut"), this)) return;
    event.preventDefault();
    if (event.key !== "/" && this.mode === "floating" && this.#launcher.isOpen) this.close();
    else this.open();
  };
  readonly #pageLanguage = new MutationObserver(() => this.#updateTexts());

  constructor() {
    super();
    this.#shadow = this.attachShadow({ mode: "open" });
    for (const styles of [frameStyles, controlStyles]) adoptStyles(this.#shadow, styles);
    const { root } = this.#launcher;
    this.#shadow.append(root);
    for (const intent of ["pointerenter", "pointerdown", "focusin"])
      root.addEventListener(intent, () => {
        // In a task of its own, as each of its steps.
        setTimeout(() => {
          if (!this.#drawn) this.#frame.layOut();
        });
        if (!this.#hasFailedToLoad) void this.#load();
      });
  }

  get #frame(): Frame {
    return (this.#drawn ??= this.#draw());
  }

  #draw(): Frame {
    const frame = new Frame(this.#translator.t, this.#launcher, {
      send: (question) => void this.ask(question),
      close: () => this.close(),
    });
    const { panel } = frame;
    // A visitor who focuses the question box is about to ask, and the model takes longest to load.
    panel.addEventListener("focusin", () => this.#hasFailedToLoad || this.#preload());
    panel.addEventListener("keydown", (event) => this.#onKey(event));
    this.#showTexts(frame);
    return frame;
  }

  /** URL of POST /api/chat; empty if the page sets none and the script does not come from a Worker. */
  get endpoint(): string {
    return this.getAttribute("endpoint") ?? DEFAULT_ENDPOINT;
  }

  set endpoint(url: string) {
    this.#reflect("endpoint", url);
  }

  /** URL of the model file, or of its folder with `/` at the end; empty if it is next to the script. */
  get modelUrl(): string {
    return this.getAttribute("model-url") ?? "";
  }

  set modelUrl(url: string) {
    this.#reflect("model-url", url);
  }

  /** In the flow of the page, or behind a button in the corner of the window. */
  get mode(): Mode {
    return this.getAttribute("mode") === "floating" ? "floating" : "inline";
  }

  set mode(mode: Mode) {
    this.#reflect("mode", mode);
  }

  /** Side of the window where a floating widget is. */
  get position(): Position {
    return this.getAttribute("position") === "start" ? "start" : "end";
  }

  set position(position: Position) {
    this.#reflect("position", position);
  }

  /** `extractive`: answers only quote, even if the site lets a language model write them. `site`: the site's setting. */
  get answerMode(): "site" | "extractive" {
    return this.getAttribute("answer-mode") === "extractive" ? "extractive" : "site";
  }

  set answerMode(mode: "site" | "extractive") {
    this.#reflect("answer-mode", mode);
  }

  /**
   * Returns the visitor's access token, or `null`. Called for each request, and to detect a change of user. Setting it to `undefined`
   * signs the visitor out and clears the conversation, history and draft. Setting it where there was none is a sign-in: it is called at
   * once. A replaced function is called with the next request. While it is not set, visitors without an account are signed in where the
   * attributes or the site's settings say so.
   */
  get tokenProvider(): TokenProvider | undefined {
    return this.#tokenProvider;
  }

  set tokenProvider(provider: TokenProvider | undefined) {
    const before = this.#tokenProvider;
    this.#tokenProvider = provider;
    // Not for each other function: an update of a component may make a new one, which would cost a token.
    if (!before !== !provider) this.#panel?.signInChanged();
    this.#panel?.resume();
  }

  /** Creates the embedder. Set it before the panel opens. Default: `createEmbedder` of `@evidence-chat/embedder`. */
  get embedderFactory(): EmbedderFactory | undefined {
    return this.#embedderFactory;
  }

  set embedderFactory(factory: EmbedderFactory | undefined) {
    this.#embedderFactory = factory;
  }

  /** Loads `@evidence-chat/writer`, instead of the attribute `writer-url`: `() => import("@evidence-chat/writer")`. */
  get writerLoader(): WriterLoader | undefined {
    return this.#writerLoader;
  }

  set writerLoader(loader: WriterLoader | undefined) {
    this.#writerLoader = loader;
  }

  /** Texts that replace the widget's texts, by key (see `web/src/texts/`). */
  get texts(): Partial<Texts> {
    return this.#texts;
  }

  set texts(texts: Partial<Texts>) {
    this.#texts = texts;
    this.#updateTexts();
  }

  connectedCallback(): void {
    adoptEarlyProperties(this, EvidenceChatElement.prototype);
    this.#showMode();
    this.#colors.connect();
    this.#pageLanguage.observe(document.documentElement, { attributeFilter: ["lang"] });
    addEventListener("keydown", this.#onPageKey);
    this.#updateTexts();
    this.dataset.state ??= "idle";
    if (this.hasAttribute("preload")) this.#preload();
    void this.#panel?.connect();
    this.#resume();
  }

  disconnectedCallback(): void {
    this.#colors.disconnect();
    this.#pageLanguage.disconnect();
    removeEventListener("keydown", this.#onPageKey);
    // An element that was only moved is connected again by then.
    queueMicrotask(() => {
      if (!this.isConnected) this.#panel?.disconnect();
    });
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (name === "endpoint" && value !== before) this.#panel?.serverChanged(before ?? DEFAULT_ENDPOINT);
    if (name === "assistant" && value !== before) this.#panel?.serverChanged(this.endpoint);
    if (name === "endpoint" || name === "assistant") this.#resume();
    if (name === "answer-mode") this.#panel?.answerModeChanged();
    if (name === "theme") this.#colors.theme = value;
    if (name === "mode") {
      this.#showMode();
      this.#panel?.modeChanged();
    }
    if (name === "preload" && value !== null && this.isConnected) this.#preload();
    if (name === "greeting" || name === "heading" || name === "lang") this.#updateTexts();
  }

  /** Shows the conversation that this tab had on the page before, for which the panel has to be loaded. */
  #resume(): void {
    if (this.isConnected && this.#memory.text && this.mode === "inline") void this.#load();
  }

  /** Opens a floating panel and focuses the question box. */
  open(): void {
    this.#show(true);
    this.focus();
    void this.#load().then((panel) => panel?.opened());
  }

  /** Closes a floating panel; the conversation stays. */
  close(): void {
    const hadFocus = this.#shadow.activeElement !== null;
    this.#show(false);
    this.#panel?.closed();
    if (hadFocus && this.mode === "floating") this.#launcher.button.focus();
  }

  /** Focuses the question box. */
  override focus(options?: FocusOptions): void {
    this.#frame.composer.focus(options);
  }

  /**
   * Asks as if the visitor had typed the question. Resolves when the outcome is shown. Ignored while one is running.
   */
  async ask(question: string): Promise<void> {
    if (question.trim() === "") return;
    this.#show(true);
    const { composer } = this.#frame;
    // Once loaded, the panel sets this itself.
    if (!this.#panel) composer.busy = true;
    const clears = this.#clears;
    const provider = this.#tokenProvider;
    const panel = await this.#load();
    if (clears !== this.#clears) return;
    // A question goes back into the box if the element was removed meanwhile, because nothing would stop it, or if its user may have left.
    if (panel && this.isConnected && (this.#tokenProvider || !provider)) return panel.ask(question.trim());
    composer.busy = false;
    composer.value ||= question;
  }

  /** Clears the conversation and the draft; the next question starts a new session. Call it when the user changes. */
  clear(): void {
    this.#clears++;
    if (this.#drawn) this.#drawn.composer.value = "";
    this.#memory.text = "";
    this.#panel?.clear();
  }

  /** Frameworks set a property that is no longer given to `undefined` or `null`. */
  #reflect(attribute: string, value: string | null | undefined): void {
    set(this, attribute, value ?? undefined);
  }

  #preload(): void {
    void this.#load().then((panel) => panel?.loadModel());
  }

  /** Loads the panel's code, once. A failure is shown and gives `undefined`; the next call tries again. */
  #load(): Promise<Panel | undefined> {
    this.#loading ??= this.#create().catch((error: unknown) => {
      this.#loading = undefined;
      this.#hasFailedToLoad = true;
      this.#frame.showLoadFailure(this.#translator.t, () => {
        // The retry button is removed in any case.
        this.focus();
        this.#preload();
      });
      this.#frame.composer.busy = false;
      this.dataset.state = "error";
      this.#dispatch("error", { code: "load_failed", message: this.#translator.format("loadFailed"), error });
      return undefined;
    });
    return this.#loading;
  }

  async #create(): Promise<Panel> {
    const [{ createPanel }] = await Promise.all([loadPanel(), this.#locale.loadPanelTexts()]);
    this.#frame.status.replaceChildren();
    this.#hasFailedToLoad = false;
    this.dataset.state = "idle";
    this.#panel = await createPanel({
      element: this,
      shadow: this.#shadow,
      frame: this.#frame,
      translator: this.#translator,
      dispatch: this.#dispatch,
      memory: this.#memory,
      greet: (site) => {
        this.#site = site;
        this.#updateTexts();
      },
    });
    if (this.isConnected) await this.#panel.connect();
    return this.#panel;
  }

  /** Opens or closes a floating panel. */
  #show(isOpen: boolean): void {
    this.#launcher.isOpen = isOpen;
    (isOpen ? this.#frame : this.#drawn)?.update();
  }

  #showMode(): void {
    this.#launcher.mode = this.mode;
    (this.mode === "inline" ? this.#frame : this.#drawn)?.update();
  }

  /** Updates the language, and the texts that come from attributes. */
  #updateTexts(): void {
    this.#locale.use(this, this.#texts);
    if (this.#drawn) this.#showTexts(this.#drawn);
  }

  #showTexts(frame: Frame): void {
    frame.title = this.getAttribute("heading") ?? this.#site.title ?? this.#translator.t("heading");
    frame.greeting = this.getAttribute("greeting") ?? this.#site.greeting ?? this.#translator.t("intro");
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented || isComposing(event) || this.mode !== "floating") return;
    event.preventDefault();
    this.close();
  }

  readonly #dispatch: Dispatch = (type, detail) =>
    this.dispatchEvent(new CustomEvent(type, { detail, composed: true, cancelable: true }));
}

/**
 * A property set before the element was defined shadows the accessor of the same name: deletes it and sets it again. `prototype` has
 * the accessors.
 */
function adoptEarlyProperties(element: HTMLElement, prototype: HTMLElement): void {
  for (const [name, value] of Object.entries(element) as [string, unknown][]) {
    if (!(name in prototype)) continue;
    Reflect.deleteProperty(element, name);
    Object.assign(element, { [name]: value });
  }
}
