import { Announcer } from "./chat/announcer.js";
import { type LazyWriter, lazyWriter } from "./writer/lazy-writer.js";
import { isSupported } from "@evidence-chat/embedder";
import { connectionLost } from "../client/errors.js";
import type { Session } from "../client/wire.js";
import { button, element, icon } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import { frameDrawn, yieldToPage } from "../dom/yield-to-page.js";
import { Chat, STOPPED } from "./chat/chat.js";
import { watchNetwork } from "./chat/problem.js";
import { QuestionLength } from "./chat/question-length.js";
import { urlOfWords } from "./citations/cited-place.js";
import { excerptOf } from "./citations/passage/draw.js";
import { CurrentUser } from "./current-user.js";
import { type LazyHistory, lazyHistory } from "./history/lazy-history.js";
import type { PanelHost } from "./host.js";
import { createModel } from "./model/create-model.js";
import type { ModelLoader } from "./model/model-loader.js";
import { type LazyReader, lazyReader } from "./reader/lazy-reader.js";
import { lazySearch } from "./search/lazy-search.js";
import { SiteSettings } from "./site-settings.js";
import type { UserSwitch } from "./user-switch.js";
import { WholeWindow } from "./whole-window.js";

/** The panel of one widget: connects its conversation, history and model. */
export class WidgetPanel {
  readonly #host: PanelHost;
  readonly #user: CurrentUser;
  readonly #model: ModelLoader;
  readonly #chat: Chat;
  readonly #history: LazyHistory;
  readonly #writer: LazyWriter;
  readonly #reader: LazyReader;
  readonly #search: ReturnType<typeof lazySearch>;
  readonly #siteSettings: SiteSettings;
  readonly #offline = element("div", { role: "status" });
  readonly #newChat: HTMLButtonElement;
  readonly #wholeWindow: WholeWindow;
  /** Aborted when the element is removed from the page. */
  #connection = new AbortController();
  /** Until then, whether the question box is busy is up to the element: a question may wait for the panel. */
  #isStarted = false;
  /** Settles when a question that is asked again for another user is answered. */
  #repetition: Promise<void> = Promise.resolve();

  constructor(host: PanelHost) {
    this.#host = host;
    const { frame, translator } = host;
    const announcer = new Announcer();
    this.#user = new CurrentUser(
      host,
      () => this.#siteSettings.forEverybody(),
      (change) => this.#userChanged(change),
    );
    const { client } = this.#user;
    const { model, notice } = createModel(host, announcer, () => {
      this.#showState();
      void this.#reader.load(false);
    });
    this.#model = model;
    this.#writer = lazyWriter(host, announcer);
    this.#reader = lazyReader(host, client, model);
    this.#siteSettings = new SiteSettings(host, client, (question) => void this.ask(question));
    this.#chat = this.#createChat(announcer);
    this.#history = this.#createHistory();
    const embedder = () => model.embedder;
    const length = new QuestionLength(translator, embedder);
    this.#newChat = this.#createNewChat();
    this.#wholeWindow = new WholeWindow(host, announcer.root);
    frame.tools.replaceChildren(this.#newChat, this.#history.button);
    const { privacy } = this.#siteSettings;
    frame.status.append(privacy.root, this.#history.notice, this.#offline, length.root, notice);
    this.#search = lazySearch({ host, announcer, tools: { excerptOf, urlOfWords }, client, embedder });
    frame.composer.onInput = (text) => {
      this.#user.draftChanged(text);
      length.check(text);
      this.#search.check(text);
    };
  }

  #createChat(announcer: Announcer): Chat {
    return new Chat({
      host: this.#host,
      announcer,
      user: this.#user,
      model: this.#model,
      settings: this.#siteSettings,
      reader: this.#reader,
      writer: this.#writer,
      ask: (question) => void this.ask(question),
      onChange: () => this.#showState(),
    });
  }

  #createHistory(): LazyHistory {
    return lazyHistory(
      this.#host,
      {
        client: this.#user.client,
        isNew: () => this.#user.isNew,
        current: () => this.#chat.sessionId,
        open: (session) => this.#open(session),
        deleted: (sessionId) => sessionId === this.#chat.sessionId && this.#chat.startOver(),
        deletingAll: () => this.#chat.abort(STOPPED),
        deletedAll: () => this.#giveBack(() => this.#chat.startOver()),
      },
      () => this.#showState(),
    );
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

  /**
   * The element was added to the page. Resolves when the panel has been drawn, or will not for a while. Then a question that waits for it
   * is asked: both in one task, or drawn in one frame, would block a slow device for long.
   */
  async connect(): Promise<void> {
    // An element that is moved is added twice.
    this.#connection.abort();
    const { signal } = (this.#connection = new AbortController());
    watchNetwork(this.#offline, this.#host.translator.t, signal);
    this.#wholeWindow.connect(signal);
    const check = () => void (document.visibilityState === "visible" && this.#user.check());
    addEventListener("focus", check, { signal });
    document.addEventListener("visibilitychange", check, { signal });
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
    this.#connection.abort();
    this.#chat.abort(connectionLost());
    this.#history.close();
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
    void this.#user.check();
    // Before a question that is asked at once, which continues that conversation.
    this.resume();
    await this.loadModel();
  }

  /** Shows the conversation that this tab had on the page before, if the visitor sees the panel and is still the same user. */
  resume(): void {
    const { element, frame } = this.#host;
    const { remembered } = this.#user;
    if (!remembered || !element.isConnected || !frame.isSeen || !this.#chat.log.isEmpty || this.#chat.isBusy) return;
    this.#chat.open({ id: remembered.id }, remembered.isOwn);
  }

  closed(): void {
    this.#history.close();
  }

  /** The page has begun, or ceased, to say who is signed in. */
  signInChanged(): void {
    if (this.#host.element.tokenProvider) {
      this.#siteSettings.read();
      return this.#user.signedIn();
    }
    const lost = this.#user.lostBySignOut(this.#chat.isRunning);
    if (lost === "all") this.clear();
    if (lost === "question") this.#giveBack(() => this.#forget());
  }

  /** Puts a question that is running back into the box. `leave` leaves its conversation. */
  #giveBack(leave: () => void): void {
    const { question } = this.#user;
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
    this.#wholeWindow.update();
  }

  /** Asks a question. Resolves when the outcome is shown. Ignored while another question is running. */
  async ask(question: string): Promise<void> {
    if (this.#chat.isRunning) return;
    this.#history.close();
    // The request itself asks for its token only when the model is loaded, which may take long.
    this.#user.asked(this.#model.state.status !== "ready");
    await this.#chat.ask(question);
    await this.#repetition;
  }

  /** Forgets the conversation, the draft and all other data of this visitor. */
  clear(): void {
    this.#host.frame.composer.value = "";
    this.#forget();
  }

  /** Forgets everything but the draft. */
  #forget(next?: UserSwitch): void {
    this.#user.leave(next);
    this.#chat.startOver();
    this.#history.clear();
    this.#siteSettings.userChanged();
    this.#search.restart();
  }

  #userChanged(change: UserSwitch): void {
    if (!change.keepsDraft) this.#host.frame.composer.value = "";
    this.#forget(change);
    if (change.question !== undefined) this.#repetition = this.#chat.ask(change.question);
  }

  #open(session: Session): void {
    this.#history.close();
    this.#host.frame.composer.focus();
    this.#chat.open(session);
  }

  #showState(): void {
    const { element, frame } = this.#host;
    const { isBusy, isRunning, hasFailed, sessionId } = this.#chat;
    // A question that is sent while a conversation is being opened waits for it.
    if (this.#isStarted) frame.composer.busy = isRunning;
    frame.composer.replacement = isRunning ? this.#chat.stopButton : undefined;
    if (!isBusy && !hasFailed) this.#user.remember(sessionId);
    this.#newChat.hidden = this.#chat.log.isEmpty || frame.body.hidden;
    element.dataset.state = this.#state();
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
