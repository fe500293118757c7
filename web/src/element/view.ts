import { Composer } from "./composer.js";
import { button, element, icon } from "./dom.js";
import { ICONS } from "./icons.js";
import { questionView, ReplyView } from "./message-view.js";
import type { ModelState } from "./model-loader.js";
import { ModelNotice } from "./model-notice.js";

/** This close, in pixels, to where the log scrolls by itself, the visitor is following along. */
const FOLLOW_WITHIN = 80;

/** Room kept above a question that was scrolled to the top, in pixels. */
const ROOM_ABOVE = 20;

/** What the visitor can do. */
export interface ViewActions {
  readonly send: (question: string) => void;
  readonly startOver: () => void;
  readonly retryModel: () => void;
}

/** The whole of the widget's shadow tree. */
export class View {
  readonly composer: Composer;
  readonly root: HTMLElement;
  readonly #heading = element("h2", { part: "heading" });
  readonly #intro = element(
    "div",
    { class: "intro" },
    element("slot", {}, element("p", {}, "What would you like to know?")),
  );
  readonly #log = element("div", {
    class: "log",
    part: "log",
    role: "log",
    "aria-live": "polite",
    "aria-label": "Conversation",
    tabindex: 0,
    "data-role": "log",
  });
  readonly #modelNotice: ModelNotice;
  readonly #startOver: HTMLButtonElement;
  #lastQuestion: HTMLElement | undefined;

  constructor(actions: ViewActions) {
    this.composer = new Composer(actions.send);
    this.#modelNotice = new ModelNotice(actions.retryModel);
    this.#startOver = button(
      { class: "button quiet", part: "new", "data-role": "new", hidden: true },
      actions.startOver,
      icon(ICONS.plus),
      "New chat",
    );
    this.#log.append(this.#intro);
    this.root = element(
      "section",
      { class: "panel", part: "panel" },
      element(
        "header",
        { part: "header" },
        element("span", { class: "emblem" }, icon(ICONS.quote)),
        this.#heading,
        this.#startOver,
      ),
      this.#log,
      this.#modelNotice.root,
      this.composer.root,
    );
  }

  set heading(text: string) {
    this.#heading.textContent = text;
    this.root.setAttribute("aria-label", text);
  }

  addQuestion(text: string): ReplyView {
    const reply = new ReplyView();
    this.#intro.hidden = true;
    this.#startOver.hidden = false;
    this.#lastQuestion = questionView(text);
    this.#log.append(this.#lastQuestion, reply.root);
    this.#log.scrollTop = this.#followedTop();
    return reply;
  }

  /** Back to the beginning, without a trace of what was asked, or typed and not yet asked. */
  clear(): void {
    this.composer.clear();
    this.#intro.hidden = false;
    this.#startOver.hidden = true;
    this.#log.replaceChildren(this.#intro);
  }

  showModel(state: ModelState): void {
    this.#modelNotice.show(state);
    this.composer.disabled = state.status === "unsupported";
  }

  /** Runs a change of the log and scrolls along, unless the visitor has scrolled elsewhere. */
  following(change: () => void): void {
    const follows = Math.abs(this.#log.scrollTop - this.#followedTop()) < FOLLOW_WITHIN;
    change();
    if (follows) this.#log.scrollTop = this.#followedTop();
  }

  /** The end of the log, but never so far that a long answer pushes its own beginning out of sight. */
  #followedTop(): number {
    const { scrollHeight, clientHeight } = this.#log;
    const question = this.#lastQuestion?.offsetTop ?? Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(scrollHeight - clientHeight, question - ROOM_ABOVE));
  }
}
