import type { StoredMessage } from "../../client/wire.js";
import { set } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import type { AnswerView, CitationActions } from "../citations/answer-view.js";
import { questionView, ReplyView } from "./reply-view.js";

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
  /** Stands in place of messages: that they are loading, or could not be. */
  #notice: HTMLElement | undefined;

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
    return this.#lastQuestion === undefined && this.#replies.size === 0;
  }

  /** The answers on the screen, oldest first. */
  get answers(): AnswerView[] {
    return [...this.#replies].map(({ answer }) => answer);
  }

  addQuestion(text: string): ReplyView {
    this.#begin();
    this.#lastQuestion = questionView(this.#translator, text);
    const reply = this.#addReply();
    reply.wait();
    this.#log.append(this.#lastQuestion, reply.root);
    this.#log.scrollTop = this.#followedTop();
    return reply;
  }

  /** Shows messages of the history, after those that are there. */
  restore(messages: readonly StoredMessage[]): void {
    this.#begin();
    const restored = messages.map((message) => {
      if (message.role === "user") return (this.#lastQuestion = questionView(this.#translator, message.content));
      return this.#restoreReply(message);
    });
    for (const message of restored.slice(0, -DRAWN_AT_ONCE)) message.classList.add("past");
    this.#log.append(...restored);
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Shows a notice until there are messages. */
  tell(notice: HTMLElement): void {
    this.clear();
    this.#intro.hidden = true;
    this.#notice = notice;
    this.#log.append(notice);
  }

  /** Back to the beginning, without a trace of what was asked. */
  clear(): void {
    this.#replies.clear();
    this.#lastQuestion = undefined;
    this.#notice = undefined;
    this.#intro.hidden = false;
    this.#log.replaceChildren(this.#intro);
  }

  /** Runs a change of the log and scrolls along, unless the visitor has scrolled elsewhere. */
  following(change: () => void): void {
    const follows = Math.abs(this.#log.scrollTop - this.#followedTop()) < FOLLOW_WITHIN;
    change();
    if (follows) this.#log.scrollTop = this.#followedTop();
  }

  #begin(): void {
    this.#intro.hidden = true;
    this.#notice?.remove();
    this.#notice = undefined;
  }

  #restoreReply({ content, citations, hedged, refusal }: StoredMessage): HTMLElement {
    const reply = this.#addReply();
    if (refusal !== undefined) reply.refuse({ message: content, suggestions: [], nearest: [] }, NO_ACTIONS);
    else reply.restore(content, citations, hedged);
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
