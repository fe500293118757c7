import type { ChatEvent, RefusalEvent } from "../client/wire.js";
import { AnswerView } from "./answer-view.js";
import { element } from "./dom.js";
import { errorNotice, type Problem } from "./error-notice.js";
import { refusalNotice, type RefusalActions } from "./refusal-notice.js";

/** The visitor's question. */
export function questionView(text: string): HTMLElement {
  return element(
    "article",
    { class: "message question", part: "message question", "data-role": "user", "aria-label": "You asked" },
    element("p", {}, text),
  );
}

/** What came back for a question: waiting, an answer as it streams in, a refusal, or an error. */
export class ReplyView {
  readonly root = element("article", {
    class: "message reply",
    part: "message reply",
    "data-role": "assistant",
    "aria-label": "Answer",
  });
  #answer = new AnswerView();

  constructor() {
    this.wait();
  }

  get answerText(): string {
    return this.#answer.text;
  }

  /** Back to the beginning, for the first attempt and for each retry. */
  wait(): void {
    this.#answer = new AnswerView();
    // Screen readers wait for the whole answer instead of reading every delta.
    this.root.setAttribute("aria-busy", "true");
    this.#become("pending", waiting());
  }

  apply(event: Exclude<ChatEvent, RefusalEvent>): void {
    switch (event.type) {
      case "answer_start":
        return;
      case "answer_delta":
        if (this.root.dataset.state === "pending") this.#become("streaming", this.#answer.root);
        return this.#answer.append(event.text);
      case "sources":
        return this.#answer.showSources(event.citations);
      case "answer_end":
        this.#answer.finishText();
        this.root.dataset.state = "done";
        this.root.removeAttribute("aria-busy");
    }
  }

  refuse(refusal: RefusalEvent, actions: RefusalActions): void {
    this.#become("refused", refusalNotice(refusal, actions));
    this.root.removeAttribute("aria-busy");
  }

  /** Shows what went wrong; an answer that had begun stays, marked as incomplete. */
  fail(problem: Problem, onRetry: () => void): void {
    this.#answer.finishText();
    const partial =
      this.#answer.text === ""
        ? []
        : [this.#answer.root, element("p", { class: "incomplete", "data-role": "incomplete" }, "Incomplete answer")];
    this.#become("failed", ...partial, errorNotice(problem, onRetry));
    this.root.removeAttribute("aria-busy");
  }

  #become(state: "pending" | "streaming" | "refused" | "failed", ...content: Node[]): void {
    this.root.dataset.state = state;
    this.root.replaceChildren(...content);
  }
}

function waiting(): HTMLElement {
  const dots = element("span", { class: "dots", "aria-hidden": "true" }, element("i"), element("i"), element("i"));
  return element(
    "p",
    { class: "waiting", "data-role": "waiting" },
    dots,
    element("span", { class: "visually-hidden" }, "Looking for an answer…"),
  );
}
