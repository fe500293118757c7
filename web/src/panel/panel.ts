import { createEmbedder, isSupported, modelBytes } from "@evidence-chat/embedder";
import { getConfig } from "../client/api.js";
import { connectionLost } from "../client/errors.js";
import { Identity } from "../client/identity.js";
import type { ChatClientOptions } from "../client/options.js";
import type { Session } from "../client/wire.js";
import { button, element, icon } from "../dom/element.js";
import { ICONS } from "../dom/icons.js";
import type { Translator } from "../dom/translator.js";
import type { Dispatch } from "../element/events.js";
import type { EvidenceChatElement } from "../element/evidence-chat.js";
import type { Frame } from "../element/frame.js";
import { Announcer } from "./chat/announcer.js";
import { Chat } from "./chat/chat.js";
import { OfflineNotice } from "./chat/offline-notice.js";
import { QuestionLength } from "./chat/question-length.js";
import { suggestedQuestions } from "./chat/suggested-questions.js";
import { copySelection } from "./citations/index.js";
import { HistoryView } from "./history/index.js";
import { mustAskBeforeDownload } from "./model/consent.js";
import { ModelLoader, type ModelState } from "./model/model-loader.js";
import { ModelNotice } from "./model/model-notice.js";
import { problemOf } from "./chat/problem.js";

/** How long a question waits to learn who asks, in milliseconds: no token takes that long, unless it never comes. */
const IDENTITY_WITHIN = 500;

/** What the element lends the panel. */
export interface PanelHost {
  readonly element: EvidenceChatElement;
  readonly shadow: ShadowRoot;
  readonly frame: Frame;
  readonly translator: Translator;
  readonly dispatch: Dispatch;
}

/** The panel: conversation, history and model of one widget, and what they have to know of each other. */
export class WidgetPanel {
  readonly #host: PanelHost;
  readonly #model: ModelLoader;
  readonly #modelNotice: ModelNotice;
  readonly #chat: Chat;
  readonly #history: HistoryView;
  #identity: Identity;
  readonly #announcer = new Announcer();
  readonly #offline: OfflineNotice;
  readonly #newChat: HTMLButtonElement;
  readonly #showHistory: HTMLButtonElement;
  readonly #checkIdentity = () => void (document.visibilityState === "visible" && this.#identity.check());
  #isConfigured = false;

  constructor(host: PanelHost) {
    this.#host = host;
    const { element: chat, shadow, frame, translator } = host;
    const { t } = translator;
    this.#identity = this.#nobodyYet();
    this.#modelNotice = new ModelNotice(translator, modelBytes(), {
      retry: () => this.#model.load(),
      allow: () => this.#model.allow(),
    });
    this.#model = new ModelLoader({
      create: (hooks) => (chat.embedderFactory ?? createEmbedder)({ modelUrl: chat.modelUrl || undefined, ...hooks }),
      mustAsk: () => mustAskBeforeDownload(),
      onChange: (state) => this.#modelChanged(state),
    });
    this.#chat = new Chat({
      host,
      announcer: this.#announcer,
      client: () => this.#client(),
      model: this.#model,
      onChange: () => this.#showState(),
    });
    this.#history = new HistoryView({
      translator,
      client: () => this.#client(),
      current: () => this.#chat.sessionId,
      open: (session) => void this.#open(session),
      deleted: (sessionId) => sessionId === this.#chat.sessionId && this.#chat.startOver(),
      renamed: () => undefined,
      back: () => this.#closeHistory(),
    });
    this.#offline = new OfflineNotice(t);
    const length = new QuestionLength(translator, () =>
      this.#model.state.status === "ready" ? this.#model.state.embedder : undefined,
    );
    this.#newChat = button(
      { class: "button quiet", part: "new", "data-role": "new", hidden: true },
      () => {
        this.#chat.startOver();
        frame.composer.focus();
      },
      icon(ICONS.plus),
      element("span", {}, t("newChat")),
    );
    this.#showHistory = button(
      { class: "icon-button", "data-role": "history-open", "aria-label": t("history"), title: t("history") },
      () => this.#openHistory(),
      icon(ICONS.history),
    );
    this.#history.root.hidden = true;
    frame.tools.replaceChildren(this.#newChat, this.#showHistory);
    frame.status.append(this.#offline.root, length.root, this.#modelNotice.root);
    frame.body.after(this.#history.root);
    frame.root.append(this.#announcer.root);
    frame.composer.onInput = (text) => length.check(text);
    shadow.addEventListener("copy", (event) => copySelection(event as ClipboardEvent, shadow, this.#chat.log.answers));
    this.#showState();
  }

  /** The element is on the page. */
  connect(): void {
    this.#offline.connect();
    addEventListener("focus", this.#checkIdentity);
    document.addEventListener("visibilitychange", this.#checkIdentity);
    // Where it cannot work, the visitor should know before typing a question.
    if (!isSupported()) this.#model.load();
    if (this.#host.element.endpoint !== "") void this.#configure();
  }

  /** The element is gone from the page. */
  disconnect(): void {
    this.#offline.disconnect();
    removeEventListener("focus", this.#checkIdentity);
    document.removeEventListener("visibilitychange", this.#checkIdentity);
    this.#chat.abort(connectionLost());
    this.#history.hide();
    this.#model.unload();
  }

  /** Loads the model, unless the visitor has to be asked first. */
  loadModel(): void {
    this.#model.load();
  }

  opened(): void {
    void this.#identity.check();
    this.loadModel();
  }

  closed(): void {
    this.#closeHistory();
  }

  /** Asks; resolves when the outcome is shown. Ignored while another question is running. */
  async ask(question: string): Promise<void> {
    if (this.#chat.isRunning) return;
    this.#closeHistory();
    // What is on the screen may belong to somebody who has signed out meanwhile.
    if (!this.#chat.log.isEmpty) await Promise.race([this.#identity.check(), sleep(IDENTITY_WITHIN)]);
    await this.#chat.ask(question);
  }

  /** Forgets the conversation and everything of this visitor. */
  clear(): void {
    this.#identity = this.#nobodyYet();
    this.#chat.startOver();
    this.#announcer.clear();
    this.#history.clear();
    this.#closeHistory();
    this.#host.frame.composer.value = "";
  }

  /** Whoever comes next is no change: nothing of anybody is here. */
  #nobodyYet(): Identity {
    return new Identity(
      () => this.#host.element.tokenProvider,
      () => this.clear(),
    );
  }

  #client(): ChatClientOptions {
    return { endpoint: this.#host.element.endpoint, tokenProvider: this.#identity.tokenProvider };
  }

  #openHistory(): void {
    this.#host.frame.body.hidden = true;
    this.#showHistory.hidden = true;
    this.#newChat.hidden = true;
    this.#history.root.hidden = false;
    this.#history.show();
  }

  #closeHistory(): void {
    if (this.#history.root.hidden) return;
    const hadFocus = this.#history.root.contains(this.#host.shadow.activeElement);
    this.#history.hide();
    this.#history.root.hidden = true;
    this.#host.frame.body.hidden = false;
    this.#showHistory.hidden = false;
    this.#showState();
    if (hadFocus) this.#showHistory.focus();
  }

  async #open(session: Session): Promise<void> {
    this.#closeHistory();
    this.#host.frame.composer.focus();
    await this.#chat.open(session);
  }

  /** Shows what the site's own settings say. Without them the widget works as well. */
  async #configure(): Promise<void> {
    if (this.#isConfigured) return;
    this.#isConfigured = true;
    const { element, frame, translator } = this.#host;
    try {
      const { greeting, suggested_questions: questions, max_message_chars: limit } = await getConfig(this.#client());
      frame.composer.limit = limit;
      if (greeting && !element.hasAttribute("greeting")) frame.greeting = greeting;
      if (questions.length > 0)
        frame.intro.append(suggestedQuestions(translator.t, questions, (text) => void this.ask(text)));
    } catch {
      this.#isConfigured = false;
    }
  }

  #modelChanged(state: ModelState): void {
    const { frame, dispatch } = this.#host;
    this.#modelNotice.show(state);
    frame.composer.disabled = state.status === "unsupported";
    this.#showState();
    if (state.status === "ready") dispatch("ready", { fingerprint: state.embedder.fingerprint });
    if (state.status === "failed" || state.status === "unsupported") {
      const { code, text } = problemOf(state.error);
      dispatch("error", { code, message: this.#host.translator.say(text), error: state.error });
    }
  }

  #showState(): void {
    const { element, frame } = this.#host;
    const { isRunning } = this.#chat;
    frame.composer.busy = isRunning;
    frame.composer.instead = isRunning ? this.#chat.stopButton : undefined;
    this.#newChat.hidden = this.#chat.log.isEmpty || frame.body.hidden;
    element.dataset.state = this.#state();
  }

  #state(): "idle" | "loading" | "ready" | "busy" | "error" {
    const { status } = this.#model.state;
    if (status === "timed_out" || status === "failed" || status === "unsupported") return "error";
    if (status === "loading") return "loading";
    if (this.#chat.isRunning) return "busy";
    if (this.#chat.hasFailed) return "error";
    return status === "consent" ? "idle" : status;
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
