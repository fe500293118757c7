import type { StoredMessage } from "../../client/wire.js";
import { set } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import type { CitationActions } from "../citations/answer-view.js";
import { questionView, ReplyView } from "./reply-view.js";

/** The log follows a streaming answer if it is scrolled this close to the followed position. */
const FOLLOW_DISTANCE_PX = 80;

/** Space above a question that is scrolled to the top. */
const MARGIN_ABOVE_PX = 20;

/** Number of last messages that are laid out at once; older ones when they come into view. */
const EAGER_MESSAGES = 6;

/** An answer of the history that is shown again. */
export interface RestoredAnswer {
  readonly message: StoredMessage;
  readonly question: string;
  readonly reply: ReplyView;
}

/** The log: the questions and replies of the current session. */
export class LogView {
  readonly #log: HTMLElement;
  readonly #intro: HTMLElement;
  readonly #translator: Translator;
  readonly #actions: CitationActions;
  #replies = new Set<ReplyView>();
  #lastQuestion: HTMLElement | undefined;
  /** Shown instead of messages while they load, or if that failed. */
  #notice: HTMLElement | undefined;
  /** Whether the next frame scrolls to the followed position. */
  #willScroll = false;

  /** `log` belongs to the frame; `intro`, inside it, is shown while the log is empty. */
  constructor(log: HTMLElement, intro: HTMLElement, translator: Translator, actions: CitationActions) {
    this.#log = log;
    this.#intro = intro;
    this.#translator = translator;
    this.#actions = actions;
    log.setAttribute("role", "log");
    // Screen readers read each complete answer once (see Announcer), not every delta.
    log.setAttribute("aria-live", "off");
    set(log, "aria-label", translator.t("conversation"));
  }

  get isEmpty(): boolean {
    return this.#lastQuestion === undefined && this.#replies.size === 0;
  }

  addQuestion(text: string): ReplyView {
    this.#begin();
    this.#lastQuestion = questionView(this.#translator, text);
    const reply = this.#addReply();
    reply.wait();
    this.#log.append(this.#lastQuestion, reply.root);
    this.#scrollInNextFrame();
    return reply;
  }

  /** Appends messages of the history. Gives the views of the answers, with the questions before them. */
  restore(messages: readonly StoredMessage[]): readonly RestoredAnswer[] {
    this.#begin();
    const answers: RestoredAnswer[] = [];
    const restored = messages.map((message) => {
      if (message.role === "user") return (this.#lastQuestion = questionView(this.#translator, message.content));
      const reply = this.#restoreReply(message);
      // Of the page before, if a page begins with an answer.
      const question = this.#lastQuestion?.textContent;
      if (question) reply.note(message, question);
      if (message.refusal === undefined && question) answers.push({ message, question, reply });
      return reply.root;
    });
    for (const message of restored.slice(0, -EAGER_MESSAGES)) message.classList.add("past");
    this.#log.append(...restored);
    this.#log.scrollTop = this.#log.scrollHeight;
    return answers;
  }

  /** Replaces all content with a notice, until there are messages. */
  showNotice(notice: HTMLElement): void {
    this.clear();
    this.#intro.hidden = true;
    this.#notice = notice;
    this.#log.append(notice);
  }

  /** Removes all messages. */
  clear(): void {
    this.#replies.clear();
    this.#lastQuestion = undefined;
    this.#notice = undefined;
    this.#intro.hidden = false;
    this.#log.replaceChildren(this.#intro);
  }

  /** Changes the log and scrolls along, unless the visitor has scrolled elsewhere. */
  following(change: () => void): void {
    const follows = this.#willScroll || Math.abs(this.#log.scrollTop - this.#followedTop()) < FOLLOW_DISTANCE_PX;
    change();
    if (follows) this.#scrollInNextFrame();
  }

  /** The frame lays the log out in any case; before it, reading the position would do that once for each change. */
  #scrollInNextFrame(): void {
    if (this.#willScroll) return;
    this.#willScroll = true;
    requestAnimationFrame(() => {
      this.#willScroll = false;
      this.#log.scrollTop = this.#followedTop();
    });
  }

  #begin(): void {
    this.#intro.hidden = true;
    this.#notice?.remove();
    this.#notice = undefined;
  }

  #restoreReply(message: StoredMessage): ReplyView {
    const reply = this.#addReply();
    if (message.refusal === undefined) reply.restore(message);
    else reply.refuse({ message: message.content, suggestions: [], nearest: [] }, NO_ACTIONS);
    return reply;
  }

  #addReply(): ReplyView {
    const reply = new ReplyView(this.#translator, this.#actions);
    this.#replies.add(reply);
    return reply;
  }

  /** The scroll position that shows the end of the log, but keeps the last question in view. */
  #followedTop(): number {
    const { scrollHeight, clientHeight } = this.#log;
    const question = this.#lastQuestion?.offsetTop ?? Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(scrollHeight - clientHeight, question - MARGIN_ABOVE_PX));
  }
}

const NO_ACTIONS = { rephrase: () => undefined, contact: () => undefined, ask: () => undefined };
