import { isSupported } from "@evidence-chat/embedder";
import { connectionLost } from "../client/errors.js";
import { Identity } from "../client/identity.js";
import { optional } from "../client/json.js";
import type { ChatClientOptions } from "../client/options.js";
import { idleTimeout } from "../client/request.js";
import type { Session } from "../client/wire.js";
import { withTimeout } from "../client/with-timeout.js";
import { button, element, icon } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import { frameDrawn, yieldToPage } from "../dom/yield-to-page.js";
import type { TextKey } from "../texts/index.js";
import { type AskerEvent, INITIAL_ASKER, nextAsker } from "./asker.js";
import { Announcer } from "./chat/announcer.js";
import { Chat, STOPPED } from "./chat/chat.js";
import { OfflineNotice } from "./chat/offline-notice.js";
import { problemOf } from "./chat/problem.js";
import { QuestionLength } from "./chat/question-length.js";
import { urlOfWords } from "./citations/cited-place.js";
import { copySelection } from "./citations/index.js";
import { excerptOf } from "./citations/passage/draw.js";
import type { PanelHost } from "./host.js";
import { LazyHistory } from "./history/lazy-history.js";
import { Modality } from "./modality.js";
import { createModel } from "./model/create-model.js";
import { ModelAnnouncer } from "./model/model-announcer.js";
import type { ModelLoader, ModelState } from "./model/model-loader.js";
import { ModelNotice } from "./model/model-notice.js";
import { modelDownloadBytes } from "./model/model-url.js";
import { LazyReader } from "./reader/lazy-reader.js";
import { reportFailures } from "./report-failures.js";
import { lazySearch } from "./search/lazy-search.js";
import { SiteSettings } from "./site-settings.js";
import { VisibleArea } from "./visible-area.js";
import { LazyVisitor } from "./visitor/lazy-visitor.js";
import { LazyWriter } from "./writer/lazy-writer.js";

/** From then on, a draft whose token has not come is taken for one of the user who was known before it. */
const DRAFT_TOKEN_MS = 5000;

/** A visitor who is signed in without an account may have a CAPTCHA to solve first. */
const SIGN_IN_MS = 180_000;

/** The panel of one widget: connects its conversation, history and model. */
export class WidgetPanel {
  readonly #host: PanelHost;
  readonly #model: ModelLoader;
  readonly #modelNotice: ModelNotice;
  readonly #modelAnnouncer: ModelAnnouncer;
  readonly #chat: Chat;
  readonly #history: LazyHistory;
  readonly #writer: LazyWriter;
  readonly #reader: LazyReader;
  /** The request to open the history whose code is being loaded; a later action of the visitor replaces it. */
  #opening: object | undefined;
  #identity: Identity;
  readonly #announcer = new Announcer();
  readonly #offline: OfflineNotice;
  readonly #newChat: HTMLButtonElement;
  readonly #showHistory: HTMLButtonElement;
  readonly #checkIdentity = () => void (document.visibilityState === "visible" && this.#identity.check());
  readonly #modality: Modality;
  readonly #visibleArea: VisibleArea;
  readonly #siteSettings: SiteSettings;
  /** Signs visitors in if the page does not. */
  readonly #visitor: LazyVisitor;
  /** The session that this tab remembers because of this page. */
  #remembered: string | undefined;
  #asker = INITIAL_ASKER;
  /**
   * Until then, in milliseconds of `performance.now()`, what is in the question box may have been begun by a new user; `undefined` if
   * nothing is, and 0 for a text that the widget suggests. It ends early with the token that is requested when a text is begun, and then
   * the text is that of the user before.
   */
  #draftMayBeNewUntil: number | undefined;
  readonly #search: ReturnType<typeof lazySearch>;
  /** Until then, whether the question box is busy is up to the element: a question may wait for the panel. */
  #isStarted = false;
  /** Settles when a question that is asked again for another user is answered. */
  #repetition: Promise<void> = Promise.resolve();

  constructor(host: PanelHost) {
    this.#host = host;
    const { shadow, frame, translator } = host;
    this.#identity = this.#newIdentity();
    this.#modelNotice = this.#createModelNotice();
    this.#modelAnnouncer = new ModelAnnouncer(translator, modelDownloadBytes(host.element.modelUrl), this.#announcer);
    this.#model = createModel(host, (state) => this.#modelChanged(state));
    this.#writer = new LazyWriter(host, this.#announcer);
    this.#reader = new LazyReader(
      host,
      () => this.#client(),
      () => this.#model.unload(),
    );
    this.#chat = this.#createChat();
    this.#history = this.#createHistory();
    const client = () => this.#client();
    this.#siteSettings = new SiteSettings(host, client, (question) => void this.ask(question));
    this.#visitor = new LazyVisitor(host, () => this.#siteSettings.forEverybody());
    this.#offline = new OfflineNotice(translator.t);
    const embedder = () => (this.#model.state.status === "ready" ? this.#model.state.embedder : undefined);
    const length = new QuestionLength(translator, embedder);
    this.#newChat = this.#createNewChat();
    this.#showHistory = this.#createShowHistory();
    this.#modality = new Modality(frame, shadow, this.#announcer.root);
    this.#visibleArea = new VisibleArea(frame.root);
    frame.tools.replaceChildren(this.#newChat, this.#showHistory);
    frame.status.append(
      this.#siteSettings.privacy.root,
      this.#history.notice,
      this.#offline.root,
      length.root,
      this.#modelNotice.root,
    );
    this.#search = lazySearch({
      host,
      announcer: this.#announcer,
      tools: { excerptOf, urlOfWords },
      client,
      embedder,
    });
    // The visitor may have typed before this code was loaded.
    this.#draftChanged(frame.composer.value, true);
    let isTyped = false;
    // Before the question box, which reports each change.
    frame.composer.root.addEventListener("input", () => (isTyped = true), { capture: true });
    frame.composer.onInput = (text) => {
      this.#draftChanged(text, isTyped);
      isTyped = false;
      length.check(text);
      this.#search.check(text);
    };
    shadow.addEventListener("copy", (event) => copySelection(event as ClipboardEvent, shadow, this.#chat.log.answers));
  }

  #createModelNotice(): ModelNotice {
    const { frame, translator } = this.#host;
    return new ModelNotice(translator, modelDownloadBytes(this.#host.element.modelUrl), {
      // Each button is removed with its notice, so the focus moves first.
      retry: () => {
        frame.composer.focus();
        this.#model.load();
      },
      allow: () => {
        frame.composer.focus();
        this.#model.allow();
      },
    });
  }

  #createChat(): Chat {
    return new Chat({
      host: this.#host,
      announcer: this.#announcer,
      client: () => this.#client(),
      model: this.#model,
      ask: (question) => void this.ask(question),
      onChange: () => this.#showState(),
      onStart: (question) => this.#noteAsker({ type: "started", question }),
      onEnd: () => this.#noteAsker({ type: "ended" }),
      onOutcome: () => this.#loadReader(true),
      onAnswer: (reply, question) => {
        if (this.#siteSettings.privacy.isOnDevice) this.#writer.offer(reply, question);
      },
      onLeave: () => this.#writer.stop(),
      read: (fields, embedder, signal) => this.#reader.read(fields, embedder, signal),
      asksForQuotes: async () => !(await this.#siteSettings.namesService()),
      supportUrl: () => this.#siteSettings.supportUrl,
    });
  }

  #createHistory(): LazyHistory {
    return new LazyHistory(this.#host, {
      translator: this.#host.translator,
      client: () => this.#client(),
      isNew: () => this.#visitor.isNew,
      current: () => this.#chat.sessionId,
      open: (session) => this.#open(session),
      deleted: (sessionId) => sessionId === this.#chat.sessionId && this.#chat.startOver(),
      deletingAll: () => this.#chat.abort(STOPPED),
      deletedAll: () => this.#giveBack(() => this.#chat.startOver()),
      back: () => this.#closeHistory(),
    });
  }

  #createNewChat(): HTMLButtonElement {
    const { frame, translator } = this.#host;
    return button(
      { class: "button quiet", part: "new", "data-role": "new", title: translator.t("newChat"), hidden: true },
      () => {
        this.#chat.startOver();
        frame.composer.focus();
      },
      icon(icons.plus),
      element("span", {}, translator.t("newChat")),
    );
  }

  #createShowHistory(): HTMLButtonElement {
    const { t } = this.#host.translator;
    return button(
      { class: "icon-button", "data-role": "history-open", "aria-label": t("history"), title: t("history") },
      () => void this.#openHistory(),
      icon(icons.history),
    );
  }

  /**
   * The element was added to the page. Resolves when the panel has been drawn, or will not for a while. Then a question that waits for it
   * is asked: both in one task, or drawn in one frame, would block a slow device for long.
   */
  async connect(): Promise<void> {
    this.#offline.connect();
    this.#modality.connect();
    this.#visibleArea.connect();
    addEventListener("focus", this.#checkIdentity);
    document.addEventListener("visibilitychange", this.#checkIdentity);
    await frameDrawn();
    if (!this.#host.element.isConnected) return;
    this.#isStarted = true;
    // In an unsupported browser, the visitor should know before typing a question.
    if (!isSupported() && !this.#host.element.embedderFactory) this.#model.load();
    this.resume();
    this.#showState();
    void this.#readSettings();
  }

  /** The element was removed from the page. */
  disconnect(): void {
    this.#offline.disconnect();
    this.#modality.disconnect();
    this.#visibleArea.disconnect();
    removeEventListener("focus", this.#checkIdentity);
    document.removeEventListener("visibilitychange", this.#checkIdentity);
    this.#chat.abort(connectionLost());
    this.#closeHistory();
    this.#model.unload();
    this.#writer.dispose();
  }

  /** Loads the site's settings and then the model, if that has not begun. */
  async loadModel(): Promise<void> {
    await this.#readSettings();
    if (this.#host.element.isConnected && this.#model.state.status === "idle") this.#model.load();
  }

  /** In a task of its own: to create the panel is a long one on a slow device. */
  async #readSettings(): Promise<void> {
    await yieldToPage();
    this.#siteSettings.read();
  }

  async opened(): Promise<void> {
    if (!this.#host.element.isConnected) return;
    void this.#identity.check();
    // Before a question that is asked at once, which continues that conversation.
    this.resume();
    await this.loadModel();
  }

  /** Shows the conversation that this tab had on the page before, if the visitor sees the panel and is still the same user. */
  resume(): void {
    const { element, frame, memory } = this.#host;
    const [id] = memory.text.split(" ", 1);
    if (!id || !element.isConnected || !frame.isSeen || !this.#chat.log.isEmpty || this.#chat.isBusy) return;
    const { text } = memory;
    this.#chat.open({ id }, async (signal) => {
      const identity = this.#identity;
      try {
        // A page's provider may never answer, and questions wait for this.
        await withTimeout(idleTimeout(this.#client()), identity.check(), signal);
      } catch {
        return false;
      }
      const { user } = identity;
      const isOwn = text === `${id} ${user}`;
      if (isOwn) this.#remembered = id;
      else if (user) memory.text = "";
      return isOwn;
    });
  }

  closed(): void {
    this.#closeHistory();
  }

  /** The page has begun, or ceased, to say who is signed in. */
  signInChanged(): void {
    if (this.#host.element.tokenProvider) {
      this.#siteSettings.read();
      // A page may find out late who is signed in, so what is typed by then is the user's.
      if (this.#draftMayBeNewUntil) this.#checkDraft();
      else void this.#identity.check();
    } else if (this.#identity.user) this.clear();
    // Where nobody was known, nobody has signed out: a page may find out late that it has no user. But a question that waits for its token
    // is not sent for a user who may have left.
    else if (this.#chat.isRunning && this.#asker.status === "unknown") this.#giveBack(() => this.#forget());
  }

  /** Puts a question that is running back into the box. `leave` leaves its conversation. */
  #giveBack(leave: () => void): void {
    const { question } = this.#asker;
    leave();
    this.#host.frame.composer.value ||= question ?? "";
  }

  /**
   * Clears the data of the previous server or assistant. `before` is the endpoint before the change; a page may also set its first
   * endpoint late, which clears nothing.
   */
  serverChanged(before: string): void {
    this.#siteSettings.forget();
    if (before === "") this.resume();
    else this.clear();
    this.#siteSettings.read();
  }

  /** Applies a change of the property `answerMode`. */
  answerModeChanged(): void {
    this.#siteSettings.privacy.update();
  }

  /** Applies a change between inline and floating. */
  modeChanged(): void {
    this.#modality.update();
  }

  /** Asks a question. Resolves when the outcome is shown. Ignored while another question is running. */
  async ask(question: string): Promise<void> {
    if (this.#chat.isRunning) return;
    this.#closeHistory();
    this.#noteAsker({ type: "asked" });
    this.#visitor.hasAsked = true;
    // The request itself asks for its token only when the model is loaded, which may take long.
    if (this.#model.state.status !== "ready") void this.#requestToken();
    await this.#chat.ask(question);
    await this.#repetition;
  }

  /** Forgets the conversation, the draft and all other data of this visitor. */
  clear(): void {
    this.#host.frame.composer.value = "";
    this.#forget();
  }

  /** Forgets everything but the draft. What is shown from now on is that of `user` if it is given. */
  #forget(user?: string): void {
    this.#identity = this.#newIdentity(user);
    this.#visitor.hasAsked = false;
    this.#host.memory.text = "";
    this.#chat.forget();
    this.#history.view?.clear();
    this.#closeHistory();
    this.#siteSettings.userChanged();
    this.#search.restart();
  }

  /**
   * As with a question, a page may report a new user only with the first token after a draft was begun, so that token is requested at
   * once. A text that the widget suggests is of the user before.
   */
  #draftChanged(text: string, isTyped: boolean): void {
    if (text === "") this.#draftMayBeNewUntil = undefined;
    if (text === "" || this.#draftMayBeNewUntil !== undefined) return;
    if (isTyped) this.#checkDraft();
    else this.#draftMayBeNewUntil = 0;
  }

  /** What has been typed may be a new user's until a token tells. */
  #checkDraft(): void {
    const until = (this.#draftMayBeNewUntil = performance.now() + DRAFT_TOKEN_MS);
    const known = () => {
      if (this.#draftMayBeNewUntil === until) this.#draftMayBeNewUntil = performance.now();
    };
    void this.#requestToken().then(known);
  }

  #noteAsker(event: AskerEvent): void {
    this.#asker = nextAsker(this.#asker, event);
  }

  /** Another user is signed in: clears the previous user's data, keeps what the new one has begun to type, and asks a new question again. */
  #userChanged(previous: string, user: string | null): void {
    this.#noteAsker({ type: "userChanged" });
    const { question } = this.#asker;
    // Who has only signed out, or whose session has ended, is no new user.
    if (user !== null && performance.now() < (this.#draftMayBeNewUntil ?? 0)) {
      this.#draftMayBeNewUntil = 0;
      this.#forget(user);
    } else {
      this.#host.frame.composer.value = "";
      // Whoever's session has ended may have asked the question, so nobody else sees it.
      this.#forget(user ?? (question === undefined ? undefined : previous));
    }
    if (question === undefined) return;
    this.#visitor.hasAsked = true;
    this.#repetition = this.#chat.ask(question);
  }

  /** Without a user, the first one to appear is not a change. */
  #newIdentity(user?: string): Identity {
    const identity: Identity = new Identity(
      () => {
        const { tokenProvider } = this.#host.element;
        return tokenProvider ? reportFailures(tokenProvider) : this.#visitor.tokenProvider;
      },
      // Ignores changes that requests of an earlier visitor notice.
      (previous, next) => identity === this.#identity && this.#userChanged(previous, next),
      user,
    );
    return identity;
  }

  /** For requests of the present user: they are not sent with the token of another one. */
  #client(): ChatClientOptions {
    const identity = this.#identity;
    const { user } = identity;
    const { endpoint, tokenProvider: ofPage } = this.#host.element;
    return {
      endpoint,
      ...optional("tokenTimeoutMs", ofPage ? undefined : SIGN_IN_MS),
      ...optional("assistant", this.#host.element.getAttribute("assistant") ?? undefined),
      tokenProvider: async () => {
        const { turn } = this.#asker;
        const token = await identity.tokenProvider();
        this.#noteAsker({ type: "token", turn });
        return user === undefined || user === identity.user ? token : null;
      },
      onTokenRejected: () => this.#visitor.reject(),
    };
  }

  /** Notices a change of user now instead of with the next request. */
  async #requestToken(): Promise<void> {
    await this.#client()
      .tokenProvider()
      .catch(() => null);
  }

  async #openHistory(): Promise<void> {
    const opening = (this.#opening = {});
    const view = await this.#history.load(() => void this.#openHistory());
    if (!view || opening !== this.#opening) return;
    this.#host.frame.body.hidden = true;
    this.#showHistory.hidden = true;
    this.#newChat.hidden = true;
    view.show();
  }

  #closeHistory(): void {
    this.#opening = undefined;
    const { view } = this.#history;
    if (!view || view.root.hidden) return;
    const hadFocus = view.root.contains(this.#host.shadow.activeElement);
    view.hide();
    this.#host.frame.body.hidden = false;
    this.#showHistory.hidden = false;
    this.#showState();
    if (hadFocus) this.#showHistory.focus();
  }

  #open(session: Session): void {
    this.#closeHistory();
    this.#host.frame.composer.focus();
    this.#chat.open(session);
  }

  #modelChanged(state: ModelState): void {
    const { frame, dispatch } = this.#host;
    this.#modelNotice.show(state);
    this.#modelAnnouncer.show(state);
    frame.composer.disabled = state.status === "unsupported";
    this.#showState();
    if (state.status === "ready") {
      dispatch("ready", { fingerprint: state.embedder.fingerprint });
      this.#loadReader(false);
    }
    if (state.status === "timed_out") this.#reportFailure("timeout", "modelTimedOutText");
    if (state.status === "failed" || state.status === "unsupported") {
      const { code, text } = problemOf(state.error);
      this.#reportFailure(code, text, state.error);
    }
  }

  #loadReader(mayDownload: boolean): void {
    const { state } = this.#model;
    if (state.status === "ready") void this.#reader.load(state.embedder, mayDownload);
  }

  #reportFailure(code: string, text: TextKey, error?: unknown): void {
    this.#host.dispatch("error", { code, message: this.#host.translator.format(text), error });
  }

  #showState(): void {
    const { element, frame } = this.#host;
    const { isBusy, isRunning } = this.#chat;
    // A question that is sent while a conversation is being opened waits for it.
    if (this.#isStarted) frame.composer.busy = isRunning;
    frame.composer.replacement = isRunning ? this.#chat.stopButton : undefined;
    if (!isBusy && !this.#chat.hasFailed) this.#remember();
    this.#newChat.hidden = this.#chat.log.isEmpty || frame.body.hidden;
    element.dataset.state = this.#state();
  }

  /** Makes this tab remember the session for the next page, or forget the one that has ended. */
  #remember(): void {
    const { sessionId } = this.#chat;
    if (sessionId === this.#remembered) return;
    this.#remembered = sessionId;
    this.#host.memory.text = sessionId ? `${sessionId} ${this.#identity.user}` : "";
  }

  #state(): "idle" | "loading" | "ready" | "busy" | "error" {
    const { status } = this.#model.state;
    if (status === "timed_out" || status === "failed" || status === "unsupported") return "error";
    if (status === "loading") return "loading";
    if (this.#chat.isBusy) return "busy";
    if (this.#chat.hasFailed) return "error";
    return status === "consent" ? "idle" : status;
  }
}
