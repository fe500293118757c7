import { listMessages } from "../../client/api.js";
import { ChatError, invalidResponse } from "../../client/errors.js";
import { optional } from "../../client/json.js";
import type { ChatEvent, Session, StoredMessage } from "../../client/wire.js";
import { button, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { adoptStyles } from "../../dom/styles.js";
import { lazyImport } from "../../lazy-import.js";
import { frameDrawn, yieldToPage } from "../../dom/yield-to-page.js";
import type { CitationActions } from "../citations/answer-view.js";
import type { CurrentUser } from "../current-user.js";
import type { LazyReader } from "../reader/lazy-reader.js";
import type { SiteSettings } from "../site-settings.js";
import type { LazyWriter } from "../writer/lazy-writer.js";
import type { PanelHost } from "../host.js";
import { embedderErrorCode, type ModelLoader } from "../model/model-loader.js";
import { exportMenu } from "../references/export-menu.js";
import type { Announcer } from "./announcer.js";
import { contactLink } from "./contact.js";
import { Conversation, type Exchange, readAhead, Stopwatch } from "./conversation.js";
import { LogView } from "./log-view.js";
import { errorNotice, problemOf } from "./problem.js";
import { type ReplyView, waiting } from "./reply-view.js";

/** Page size when a conversation is opened: the API's maximum. A page may have fewer messages. */
const PAGE_SIZE = 200;

const loadAnswered = lazyImport(() => import("../answered/index.js"));
const loadDownload = lazyImport(() => import("../save-file.js"));

/** Abort reason when the visitor stops the answer. */
export const STOPPED = new DOMException("The visitor stopped the answer.", "AbortError");

/** Dependencies and callbacks of a chat. */
export interface ChatOptions {
  readonly host: PanelHost;
  readonly announcer: Announcer;
  readonly user: CurrentUser;
  readonly model: ModelLoader;
  readonly settings: SiteSettings;
  readonly reader: LazyReader;
  readonly writer: LazyWriter;
  /** Asks a question that the server suggests. */
  readonly ask: (question: string) => void;
  /** Called when `isBusy`, `isRunning` or `hasFailed` may have changed. */
  readonly onChange: () => void;
}

/** Asks questions, one at a time, and shows their outcomes. */
export class Chat {
  readonly log: LogView;
  /** Stops the running answer. */
  readonly stopButton: HTMLButtonElement;
  readonly #options: ChatOptions;
  readonly #conversation: Conversation;
  #running: AbortController | undefined;
  /** The conversation that is being opened, and whether it could be loaded. */
  #opening: { readonly controller: AbortController; readonly isLoaded: Promise<boolean> } | undefined;
  #hasFailed = false;

  constructor(options: ChatOptions) {
    this.#options = options;
    const { frame, translator } = options.host;
    this.log = new LogView(frame.log, frame.intro, translator, this.#citationActions());
    const { model, user, settings, reader } = options;
    this.#conversation = new Conversation(
      () => model.ready(),
      user.client,
      async () => !(await settings.namesService()),
      (...asked) => reader.read(...asked),
    );
    this.stopButton = button(
      { class: "send stop", part: "stop", "aria-label": translator.t("stop"), "data-role": "stop" },
      () => this.abort(STOPPED),
      icon(icons.stop),
    );
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Whether a new question has to wait. */
  get isBusy(): boolean {
    return this.isRunning || this.#opening !== undefined;
  }

  /** Whether the last question failed. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get sessionId(): string | undefined {
    return this.#conversation.sessionId;
  }

  async ask(question: string): Promise<void> {
    if (this.#running) return;
    const { user, host } = this.#options;
    // The question continues a conversation that is being opened, and ends with the visit of its user.
    const { visit } = user;
    const isLoaded = !this.#opening || (await this.#opening.isLoaded);
    if (visit.aborted) return;
    // Also if another question waited for the same conversation.
    if (!isLoaded || this.#running) return void (host.frame.composer.value ||= question);
    user.question = question;
    const exchange = this.#conversation.begin(question);
    const text = exchange.question;
    const reply = this.log.addQuestion(text);
    const asked = { role: "user", text, mode: "extractive", hedged: false, citations: [], alsoFound: [] } as const;
    host.dispatch("message", { ...asked, sessionId: this.sessionId });
    await this.#run(exchange, reply);
  }

  /** Lets the visitor say whether an answer of the history helped, unless the page does not want that. */
  async #offerFeedback(
    { tools }: ReplyView,
    question: string,
    { id, feedback, searched = question }: Pick<StoredMessage, "id" | "feedback" | "searched">,
  ): Promise<void> {
    const { host, user, model, settings } = this.#options;
    const { sessionId } = this;
    if (!tools || !sessionId || !id || host.element.getAttribute("feedback") === "off") return;
    const loaded = await this.#loadAnswered();
    const embedding = async () => model.embedder && [...(await model.embedder.embed(searched)).vector];
    const { translator } = host;
    const contact = () => contactLink(host, { question, sessionId }, settings.supportUrl);
    loaded?.offerFeedback({
      id: { sessionId, messageId: id },
      feedback,
      tools,
      translator,
      client: user.client,
      embedding,
      contact,
    });
  }

  /** Loads what follows an answer. The chat works without it. */
  async #loadAnswered(): Promise<typeof import("../answered/index.js") | undefined> {
    const loaded = await loadAnswered().catch(() => undefined);
    if (loaded) adoptStyles(this.#options.host.shadow, loaded.styles);
    return loaded;
  }

  async #answered(reply: ReplyView): Promise<void> {
    const { host, user } = this.#options;
    const loaded = await this.#loadAnswered();
    loaded?.countCitationUse(host.frame.log, user.client);
    if (reply.answer.citations.length > 0 && isFirstHint()) loaded?.showHint(host);
  }

  /** Aborts the running question or opening. */
  abort(reason: unknown): void {
    this.#running?.abort(reason);
    this.#opening?.controller.abort(reason);
  }

  /** Clears the conversation; the next question starts a new session. */
  startOver(): void {
    this.#leave();
    this.#options.onChange();
  }

  #leave(): void {
    const running = this.#running;
    this.#running = undefined;
    this.#options.user.question = undefined;
    this.#options.writer.stop();
    running?.abort(STOPPED);
    this.#opening?.controller.abort(STOPPED);
    this.#opening = undefined;
    this.#hasFailed = false;
    this.#conversation.reset();
    this.log.clear();
    this.#options.announcer.clear();
  }

  /**
   * Opens a conversation of the history. With `isOwn`, it is one that this tab remembers: if it is not this user's or does not exist
   * any more, nobody is told.
   */
  open(session: Pick<Session, "id" | "title">, isOwn?: (signal: AbortSignal) => Promise<boolean>): void {
    // To open what this tab remembers is not to leave it.
    if (isOwn) this.#leave();
    else this.startOver();
    const opening = { controller: new AbortController(), isLoaded: Promise.resolve(true) };
    this.#opening = opening;
    this.#conversation.resume(session.id);
    this.log.showNotice(waiting(this.#options.host.translator, "loading"));
    this.#options.onChange();
    opening.isLoaded = this.#load(opening.controller.signal, session, isOwn).finally(() => {
      if (this.#opening !== opening) return;
      this.#opening = undefined;
      this.#options.onChange();
    });
  }

  /** Loads the messages. Gives `false` if that fails or is aborted. */
  async #load(signal: AbortSignal, ...opened: Parameters<Chat["open"]>): Promise<boolean> {
    const [session, isOwn] = opened;
    const { host, announcer, user } = this.#options;
    try {
      const isOurs = !isOwn || (await isOwn(signal));
      signal.throwIfAborted();
      if (!isOurs) return this.#forgetOpened();
      let cursor: string | undefined;
      do {
        const page = await listMessages(session.id, { limit: PAGE_SIZE, cursor }, user.client(), signal);
        signal.throwIfAborted();
        for (const { reply, question, message } of this.log.restore(page.messages))
          void this.#offerFeedback(reply, question, message);
        for (const { role, content, searched } of page.messages) {
          const last = role === "user" ? content : searched;
          if (last) this.#conversation.follow(last);
        }
        // The same cursor again would loop for ever.
        if (cursor !== undefined && page.next_cursor === cursor) throw invalidResponse();
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      // A conversation that is still there after a page change is no news.
      if (!isOwn) announcer.say(host.translator.format("conversationRestored", { title: session.title ?? "" }));
      return true;
    } catch (error) {
      // The conversation was left.
      if (this.#opening?.controller.signal !== signal) return false;
      if (isOwn && error instanceof ChatError && error.code === "not_found") return this.#forgetOpened();
      // An element that was removed from the page may come back and then needs an error message.
      this.#notRestored(signal.aborted ? signal.reason : error, ...opened);
      return false;
    }
  }

  /** Begins a new conversation in place of the one that is being opened. */
  #forgetOpened(): true {
    this.startOver();
    return true;
  }

  #notRestored(error: unknown, ...opened: Parameters<Chat["open"]>): void {
    const { host } = this.#options;
    const problem = { ...problemOf(error), text: "messagesFailed" as const };
    const retry = () => {
      this.open(...opened);
      host.frame.composer.focus();
    };
    this.#hasFailed = true;
    this.#conversation.reset();
    this.log.showNotice(errorNotice(host.translator.t, problem, retry));
    host.dispatch("error", { code: problem.code, message: host.translator.format(problem.text), error });
  }

  async #run(exchange: Exchange, reply: ReplyView): Promise<void> {
    const { host, announcer, user, settings, reader, writer } = this.#options;
    const running = new AbortController();
    const watch = new Stopwatch((detail) => host.dispatch("stage", detail));
    this.#running = running;
    this.#hasFailed = false;
    this.#options.onChange();
    try {
      // Showing a question and beginning to ask it are each a long task on a slow device.
      await yieldToPage();
      if (this.#running !== running) return;
      running.signal.throwIfAborted();
      let isFirst = true;
      for await (const event of readAhead(this.#conversation.run(exchange, watch, running.signal))) {
        // All events of a short answer arrive at once, and to handle them in one task, or to draw them in one frame, blocks a slow device
        // for long.
        if (event.type === "sources" || event.type === "answer_end") await frameDrawn();
        else await yieldToPage();
        if (this.#running !== running) return;
        running.signal.throwIfAborted();
        this.log.following(() => this.#show(event, exchange, reply));
        if (event.type === "progress") {
          watch.mark("writing");
          announcer.say(host.translator.format("writing"));
        }
        if (event.type === "answer_delta" && isFirst) watch.mark("first_word");
        isFirst &&= event.type !== "answer_delta";
        if (event.type === "refusal") watch.mark("refused");
        if (event.type === "refusal" || event.type === "answer_end") void reader.load(true);
        if (event.type === "answer_end") {
          watch.mark("complete");
          this.#completed(reply);
          const { message_id: id, persisted, searched } = event;
          if (settings.privacy.isOnDevice) writer.offer(reply, searched ?? exchange.question);
          void this.#answered(reply);
          if (persisted && id)
            void this.#offerFeedback(reply, exchange.question, { id, ...optional("searched", searched) });
        }
      }
    } catch (thrown) {
      // The reply is gone if the visitor left the conversation.
      if (this.#running !== running) return;
      watch.mark("failed");
      // The abort reason explains more than the error it caused.
      this.#failed(running.signal.aborted ? running.signal.reason : thrown, exchange, reply);
    } finally {
      if (this.#running === running) {
        this.#running = undefined;
        user.question = undefined;
      }
      this.#options.onChange();
    }
  }

  #show(event: ChatEvent, exchange: Exchange, reply: ReplyView): void {
    if (event.type !== "refusal") {
      if (event.type === "answer_end" && reply.answer.text.trim() === "") throw invalidResponse();
      reply.apply(event);
      if (event.type === "answer_end") reply.note(event, exchange.question, exchange.tokens);
      return;
    }
    const { question, tokens } = exchange;
    const { host, announcer } = this.#options;
    const { composer } = host.frame;
    reply.refuse(event, {
      rephrase: () => composer.suggest(question),
      contact: (url) => contactLink(host, { question, sessionId: event.session_id ?? this.sessionId }, url),
      ask: this.#options.ask,
    });
    reply.note(event, question, tokens);
    announcer.say(textOf(reply, "[role=note], [data-role=refusal-message]"));
    host.dispatch("refusal", event);
  }

  #completed(reply: ReplyView): void {
    const { answer } = reply;
    const { host, announcer } = this.#options;
    const spoken = [textOf(reply, ":scope > [role=note]"), answer.plainText()].join(" ").trim();
    announcer.say(host.translator.format("answerReady", { text: spoken }));
    const { text, mode, generation, citations, alsoFound, isHedged: hedged } = answer;
    host.dispatch("message", {
      role: "assistant",
      text,
      mode,
      ...optional("generation", generation),
      hedged,
      citations,
      alsoFound,
      sessionId: this.sessionId,
    });
  }

  #failed(error: unknown, exchange: Exchange, reply: ReplyView): void {
    const { host, model } = this.#options;
    const retry = () => this.#retry(exchange, reply);
    if (error === STOPPED) return this.log.following(() => reply.stop(retry));
    this.#hasFailed = true;
    if (embedderErrorCode(error) === "crashed") model.unload();
    const problem = problemOf(error);
    this.log.following(() => reply.fail(problem, retry));
    const message = host.translator.format(problem.text, problem.values);
    host.dispatch("error", { code: problem.code, message, error });
  }

  #retry(exchange: Exchange, reply: ReplyView): void {
    if (this.#running) return;
    reply.wait();
    void this.#run(exchange, reply);
    // The retry button had the focus and is gone.
    this.#options.host.frame.composer.focus();
  }

  #citationActions(): CitationActions {
    const { host, user } = this.#options;
    return {
      opened: (citation) => host.dispatch("citation-open", { citation }),
      // By id rather than by the citation's link, which may have expired; the server checks access again.
      download: async ({ document_id: id }) => {
        // Few visitors download files, so the code is loaded for them.
        const { saveDocument } = await loadDownload();
        await saveDocument(id, user.client(), user.visit);
      },
      exportReferences: (citations) => exportMenu(host, () => citations),
    };
  }
}

/** The text of the parts of a reply, for the announcer. */
function textOf({ root }: ReplyView, selector: string): string {
  return Array.from(root.querySelectorAll(selector), ({ textContent }) => textContent).join(" ");
}

/** Set in `localStorage` once this browser has shown the hint that badges open. */
const HINT_SHOWN = "evidence-chat:hint";

/** Whether the hint was never shown, and will not be again. A browser that cannot remember that shows none. */
function isFirstHint(): boolean {
  try {
    const isFirst = localStorage.getItem(HINT_SHOWN) === null;
    localStorage.setItem(HINT_SHOWN, "1");
    return isFirst;
  } catch {
    return false;
  }
}
