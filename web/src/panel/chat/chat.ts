import { listMessages } from "../../client/api.js";
import { downloadDocument } from "../../client/download.js";
import type { ChatClientOptions } from "../../client/options.js";
import type { ChatEvent, Citation, Session } from "../../client/wire.js";
import { button, icon } from "../../dom/element.js";
import { ICONS } from "../../dom/icons.js";
import type { CitationActions } from "../citations/index.js";
import { embedderErrorCode } from "../model/embedder-error.js";
import type { ModelLoader } from "../model/model-loader.js";
import type { PanelHost } from "../panel.js";
import { exportMenu } from "../references/export-menu.js";
import type { Announcer } from "./announcer.js";
import { Conversation, type Exchange } from "./conversation.js";
import { errorNotice } from "./error-notice.js";
import { LogView } from "./log-view.js";
import { problemOf } from "./problem.js";
import type { ReplyView } from "./reply-view.js";
import { saveFile } from "./save-file.js";
import { Stopwatch } from "./stopwatch.js";
import { supportLink } from "./support-link.js";

/** Messages fetched at once when a conversation is opened: as many as the server gives. */
const PAGE = 200;

/** The reason of an abort that the visitor asked for. */
const STOPPED = new DOMException("The visitor stopped the answer.", "AbortError");

/** What a chat works with. */
export interface ChatOptions {
  readonly host: PanelHost;
  readonly announcer: Announcer;
  readonly client: () => ChatClientOptions;
  readonly model: ModelLoader;
  /** Called when a question begins or ends. */
  readonly onChange: () => void;
}

/** Asks questions and shows what comes of them, one at a time. */
export class Chat {
  readonly log: LogView;
  /** Stops the answer that is running. */
  readonly stopButton: HTMLButtonElement;
  readonly #options: ChatOptions;
  readonly #conversation: Conversation;
  #running: AbortController | undefined;
  #restoring: AbortController | undefined;
  #hasFailed = false;

  constructor(options: ChatOptions) {
    this.#options = options;
    const { frame, translator } = options.host;
    this.log = new LogView(frame.log, frame.intro, translator, this.#citationActions());
    this.#conversation = new Conversation(() => options.model.ready(), options.client);
    this.stopButton = button(
      { class: "send stop", part: "stop", "aria-label": translator.t("stop"), "data-role": "stop" },
      () => this.abort(STOPPED),
      icon(ICONS.stop),
    );
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
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
    this.#restoring?.abort();
    const exchange = this.#conversation.begin(question);
    const text = exchange.question;
    const reply = this.log.addQuestion(text);
    this.#options.host.dispatch("message", { role: "user", text, citations: [], sessionId: this.sessionId });
    await this.#run(exchange, reply);
  }

  /** Ends what is running, for that reason. */
  abort(reason: unknown): void {
    this.#running?.abort(reason);
    this.#restoring?.abort(reason);
  }

  /** Forgets the conversation; the next question starts a new session. */
  startOver(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.abort(STOPPED);
    this.#restoring?.abort(STOPPED);
    this.#hasFailed = false;
    this.#conversation.reset();
    this.log.clear();
    this.#options.onChange();
  }

  /** Shows a conversation of the history, to go on with. */
  async open(session: Session): Promise<void> {
    const { host, announcer, client } = this.#options;
    this.startOver();
    const restoring = new AbortController();
    this.#restoring = restoring;
    try {
      let cursor: string | undefined;
      do {
        const page = await listMessages(
          session.id,
          { limit: PAGE, ...(cursor && { cursor }) },
          client(),
          restoring.signal,
        );
        this.log.restore(page.messages);
        cursor = page.next_cursor ?? undefined;
        this.#options.onChange();
      } while (cursor !== undefined);
      this.#conversation.resume(session.id);
      announcer.say(host.translator.say("conversationRestored", { title: session.title ?? "" }));
    } catch (error) {
      if (restoring.signal.aborted) return;
      const problem = problemOf(error);
      this.log.clear();
      host.frame.log.append(
        errorNotice(host.translator.t, { ...problem, text: "messagesFailed" }, () => void this.open(session)),
      );
    }
  }

  async #run(exchange: Exchange, reply: ReplyView): Promise<void> {
    const running = new AbortController();
    const watch = new Stopwatch((detail) => this.#options.host.dispatch("stage", detail));
    this.#running = running;
    this.#hasFailed = false;
    this.#options.onChange();
    try {
      let citations: readonly Citation[] = [];
      let isFirst = true;
      for await (const event of this.#conversation.run(exchange, watch, running.signal)) {
        if (this.#running !== running) return;
        if (event.type === "sources") citations = event.citations;
        this.log.following(() => this.#show(event, exchange, reply));
        if (event.type === "answer_delta" && isFirst) watch.mark("first_word");
        isFirst &&= event.type !== "answer_delta";
        if (event.type === "refusal") watch.mark("refused");
        if (event.type === "answer_end") {
          watch.mark("complete");
          this.#completed(reply, citations);
        }
      }
    } catch (thrown) {
      // Where the conversation was left, the reply is gone, too.
      if (this.#running !== running) return;
      watch.mark("failed");
      // Who ended it says better why than what that broke.
      this.#failed(running.signal.aborted ? running.signal.reason : thrown, exchange, reply);
    } finally {
      if (this.#running === running) this.#running = undefined;
      this.#options.onChange();
    }
  }

  #show(event: ChatEvent, { question }: Exchange, reply: ReplyView): void {
    if (event.type !== "refusal") return reply.apply(event);
    const { host, announcer } = this.#options;
    const { composer } = host.frame;
    reply.refuse(event, {
      rephrase: () => composer.offer(question),
      supportUrl: supportLink(host.element.getAttribute("support-url")),
      suggest: (text) => composer.offer(text),
    });
    announcer.say(reply.root.querySelector("[data-role=refusal-message]")?.textContent ?? "");
    host.dispatch("refusal", event);
  }

  #completed(reply: ReplyView, citations: readonly Citation[]): void {
    const { host, announcer } = this.#options;
    announcer.say(host.translator.say("answerReady", { text: reply.answer.plainText() }));
    const { text } = reply.answer;
    host.dispatch("message", { role: "assistant", text, citations, sessionId: this.sessionId });
  }

  #failed(error: unknown, exchange: Exchange, reply: ReplyView): void {
    const { host, model } = this.#options;
    const retry = () => this.#retry(exchange, reply);
    if (error === STOPPED) return this.log.following(() => reply.stop(retry));
    this.#hasFailed = true;
    if (embedderErrorCode(error) === "crashed") model.unload();
    const problem = problemOf(error);
    this.log.following(() => reply.fail(problem, retry));
    const message = host.translator.say(problem.text, problem.values);
    host.dispatch("error", { code: problem.code, message, error });
  }

  #retry(exchange: Exchange, reply: ReplyView): void {
    if (this.#running) return;
    reply.wait();
    void this.#run(exchange, reply);
    // The button that had the focus is gone.
    this.#options.host.frame.composer.focus();
  }

  #citationActions(): CitationActions {
    const { host, client } = this.#options;
    return {
      opened: (citation) => host.dispatch("citation-open", { citation }),
      // By the document's id, not by its link: that may have expired, and who may read it is checked when it is clicked.
      download: async ({ document_id: id }) => saveFile(await downloadDocument(id, client())),
      exportReferences: (citations) => exportMenu(host.translator, () => citations),
    };
  }
}
