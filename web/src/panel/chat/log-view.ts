import type { Citation } from "../../client/wire.js";
import type { StoredMessage } from "../../client/index.js";
import { set } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import type { AnswerView, CitationActions } from "../citations/answer-view.js";
import { questionView, ReplyView } from "./reply-view.js";
import { isRefusal } from "./server-texts.js";

/** This close, in pixels, to where the log scrolls by itself, the visitor is following along. */
const FOLLOW_WITHIN = 80;

/** Room kept above a question that was scrolled to the top, in pixels. */
const ROOM_ABOVE = 20;

/** So many of the last messages of a history are laid out at once, the others when they come into view. */
const DRAWN_AT_ONCE = 6;

/** The questions and replies of the session on the screen. */
export class LogView {
  readonly #log: HTMLElement;
  readonly #intro: HTMLElement;
  readonly #translator: Translator;
  readonly #actions: CitationActions;
  #replies = new Set<ReplyView>();
  #lastQuestion: HTMLElement | undefined;

  /** `log` is the frame's; `intro`, in it, is shown as long as there is nothing else. */
  constructor(log: HTMLElement, intro: HTMLElement, translator: Translator, actions: CitationActions) {
    this.#log = log;
    this.#intro = intro;
    this.#translator = translator;
    this.#actions = actions;
    log.setAttribute("role", "log");
    // Read aloud is not every delta here, but each answer once it is complete: see Announcer.
    log.setAttribute("aria-live", "off");
    set(log, "aria-label", translator.t("conversation"));
  }

  get isEmpty(): boolean {
    return this.#replies.size === 0;
  }

  /** The answers on the screen, oldest first. */
  get answers(): AnswerView[] {
    return [...this.#replies].map(({ answer }) => answer);
  }

  addQuestion(text: string): ReplyView {
    this.#intro.hidden = true;
    this.#lastQuestion = questionView(this.#translator, text);
    const reply = this.#addReply();
    reply.wait();
    this.#log.append(this.#lastQuestion, reply.root);
    this.#log.scrollTop = this.#followedTop();
    return reply;
  }

  /** Shows messages of the history, after those that are there. */
  restore(messages: readonly StoredMessage[]): void {
    this.#intro.hidden = true;
    const restored = messages.map((message) => {
      if (message.role === "user") return (this.#lastQuestion = questionView(this.#translator, message.content));
      return this.#restoreReply(message.content, message.citations);
    });
    for (const message of restored.slice(0, -DRAWN_AT_ONCE)) message.classList.add("past");
    this.#log.append(...restored);
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Back to the beginning, without a trace of what was asked. */
  clear(): void {
    this.#replies.clear();
    this.#lastQuestion = undefined;
    this.#intro.hidden = false;
    this.#log.replaceChildren(this.#intro);
  }

  /** Runs a change of the log and scrolls along, unless the visitor has scrolled elsewhere. */
  following(change: () => void): void {
    const follows = Math.abs(this.#log.scrollTop - this.#followedTop()) < FOLLOW_WITHIN;
    change();
    if (follows) this.#log.scrollTop = this.#followedTop();
  }

  #restoreReply(text: string, citations: readonly Citation[]): HTMLElement {
    const reply = this.#addReply();
    if (isRefusal(text)) reply.refuse({ message: text, suggestions: [], nearest: [] }, NO_ACTIONS);
    else reply.restore(text, citations);
    return reply.root;
  }

  #addReply(): ReplyView {
    const reply = new ReplyView(this.#translator, this.#actions);
    this.#replies.add(reply);
    return reply;
  }

  /** The end of the log, but never so far that a long answer pushes its own beginning out of sight. */
  #followedTop(): number {
    const { scrollHeight, clientHeight } = this.#log;
    const question = this.#lastQuestion?.offsetTop ?? Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(scrollHeight - clientHeight, question - ROOM_ABOVE));
  }
}

const NO_ACTIONS = { rephrase: () => undefined, supportUrl: undefined, suggest: () => undefined };
