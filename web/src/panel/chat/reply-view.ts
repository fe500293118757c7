import type { ChatEvent, RefusalEvent, Searched, StoredMessage } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translate, Translated, Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import { AnswerView, type CitationActions } from "../citations/answer-view.js";
import { errorNotice, type Problem, retryButton } from "./problem.js";
import { tooLong } from "./question-length.js";
import { type RefusalActions, refusalNotice, type RefusalTexts } from "./refusal-notice.js";

/** The reply to a question: waiting, a streaming answer, a refusal, or an error. */
export class ReplyView {
  readonly root: HTMLElement;
  readonly #translator: Translator;
  readonly #actions: CitationActions;
  #answer: AnswerView;

  constructor(translator: Translator, actions: CitationActions) {
    this.#translator = translator;
    this.#actions = actions;
    this.#answer = new AnswerView(translator, actions);
    this.root = element("article", {
      class: "message reply",
      part: "message reply",
      "data-role": "assistant",
      "aria-label": translator.t("answer"),
    });
  }

  get answer(): AnswerView {
    return this.#answer;
  }

  /** The buttons below a finished answer. */
  get tools(): HTMLElement | null {
    return this.root.querySelector(".answer-tools");
  }

  /** Creates the view of an answer that is written on this device; the caller shows it above the other one. */
  newWritten(): AnswerView {
    return new AnswerView(this.#translator, this.#actions);
  }

  /** Shows that a reply is pending, at the first attempt and at each retry. */
  wait(): void {
    this.#answer = new AnswerView(this.#translator, this.#actions);
    this.#become("pending", waiting(this.#translator));
  }

  /** Shows the next event. */
  apply(event: Exclude<ChatEvent, RefusalEvent>): void {
    switch (event.type) {
      case "progress":
        return this.#become("pending", waiting(this.#translator, "writing", true));
      case "answer_start":
        if (event.hedged) this.#answer.hedge();
        if (event.mode === "generated") this.#answer.markGenerated();
        return;
      case "answer_delta":
        if (this.root.dataset.state === "pending") this.#become("streaming", this.#answer.root);
        return this.#answer.arrive(event.text);
      case "sources":
        return this.#answer.showSources(event.citations, event.also_found);
      case "answer_end":
        if (event.generation) this.#answer.report(event.generation);
        return this.#finish(event.persisted, event.generation?.cut);
    }
  }

  /** Shows an answer of the history. */
  restore({ content, citations, hedged, mode, cut }: StoredMessage): void {
    if (hedged) this.#answer.hedge();
    if (mode === "generated") this.#answer.markGenerated();
    this.#answer.append(content);
    this.#answer.showSources(citations);
    this.#finish(true, cut);
  }

  refuse(refusal: RefusalTexts, actions: RefusalActions): void {
    const { download } = this.#actions;
    this.#become("refused", refusalNotice(this.#translator, refusal, { ...actions, download }));
  }

  /** The visitor stopped the answer; its text so far stays. */
  stop(onRetry: () => void): void {
    const { t } = this.#translator;
    const note = element("p", { class: "incomplete", "data-role": "incomplete" }, t("stopped"));
    this.#become("stopped", ...this.#partialAnswer(), note, retryButton(t, 0, onRetry));
  }

  /** Shows the problem; the text of the answer so far stays, marked as incomplete. */
  fail(problem: Problem, onRetry: () => void): void {
    const { t } = this.#translator;
    const partial = this.#partialAnswer();
    const why = problem.code === "connection_lost" ? "connectionLost" : "incomplete";
    const note = element("p", { class: "incomplete", "data-role": "incomplete" }, t(why));
    this.#become("failed", ...partial, ...(partial.length > 0 ? [note] : []), errorNotice(t, problem, onRetry));
  }

  /**
   * Says above the outcome what was searched, if it was not just the question. The number of its tokens is unknown in a conversation of
   * the history.
   */
  note({ searched, truncated }: Searched, question: string, tokens?: number): void {
    const note = (role: string, text: Translated) =>
      this.root.prepend(element("p", { class: "note", role: "note", "data-role": role }, text));
    const previous = searched && questionBefore(searched, question);
    if (previous) note("searched", this.#translator.t("searched", { question: previous }));
    if (truncated) note("truncated", tooLong(this.#translator, tokens));
  }

  #finish(isPersisted: boolean, isCut = false): void {
    const { t } = this.#translator;
    this.#answer.complete();
    const note = (name: string, key: TextKey) =>
      element("p", { class: "incomplete", role: "note", "data-role": name }, t(key));
    const notes = [
      ...(isCut ? [note("incomplete", "incomplete")] : []),
      ...(isPersisted ? [] : [note("not-saved", "notSaved")]),
    ];
    this.#become("done", this.#answer.root, ...notes, copyButtons(t, this.#answer));
  }

  #partialAnswer(): HTMLElement[] {
    this.#answer.finishText();
    return this.#answer.text === "" ? [] : [this.#answer.root];
  }

  #become(state: "pending" | "streaming" | "done" | "stopped" | "refused" | "failed", ...content: Node[]): void {
    this.root.dataset.state = state;
    const isRunning = state === "pending" || state === "streaming";
    this.root.setAttribute("aria-busy", String(isRunning));
    const isPresent = (node: Node) => node.parentNode === this.root;
    // Nodes that stay are not removed, which would lose focus, scroll position and selection.
    for (const child of [...this.root.childNodes]) if (!content.includes(child)) child.remove();
    for (const node of content) if (!isPresent(node)) this.root.append(node);
  }
}

/** The question before this one in the text that was searched, which is both with a space between them. */
function questionBefore(searched: string, question: string): string | undefined {
  const start = `${question.trim()} `;
  return searched.startsWith(start) ? searched.slice(start.length) : undefined;
}

/** The visitor's question. */
export function questionView({ t }: Translator, text: string): HTMLElement {
  return element(
    "article",
    { class: "message question", part: "message question", "data-role": "user", "aria-label": t("youAsked") },
    element("p", { dir: "auto" }, text),
  );
}

/** Moving dots for something that is loading. Only screen readers get the text, unless it is visible. */
export function waiting({ t }: Translator, what: TextKey = "searching", isVisible = false): HTMLElement {
  const dots = element("span", { class: "dots", "aria-hidden": "true" }, element("i"), element("i"), element("i"));
  return element(
    "p",
    { class: "waiting", "data-role": "waiting" },
    dots,
    element("span", { class: isVisible ? undefined : "visually-hidden" }, t(what)),
  );
}

/** Time that a button shows the outcome. */
const FEEDBACK_MS = 2000;

/** Buttons that copy an answer, as text or with footnotes. */
export function copyButtons(t: Translate, answer: AnswerView): HTMLElement {
  return element(
    "div",
    { class: "answer-tools row" },
    copyButton(t, "copy", icons.copy, () => answer.plainText()),
    copyButton(t, "copyMarkdown", icons.markdown, () => answer.markdown()),
    element("span", { class: "visually-hidden", role: "status" }),
  );
}

function copyButton(t: Translate, key: "copy" | "copyMarkdown", path: string, text: () => string): HTMLButtonElement {
  const label = element("span", {}, t(key));
  const say = (outcome: TextKey) => label.replaceChildren(t(outcome).asText());
  const role = key === "copy" ? "copy" : "copy-markdown";
  const made = button({ class: "button quiet", "data-role": role }, () => void copy(), icon(path), label);
  const copy = async () => {
    let outcome: TextKey = "copied";
    try {
      // `clipboard` is undefined on a page without a secure origin.
      await navigator.clipboard.writeText(text());
    } catch {
      outcome = "copyFailed";
    }
    say(outcome);
    const status = made.parentElement?.querySelector("[role=status]");
    status?.replaceChildren(t(outcome).asText());
    setTimeout(() => {
      say(key);
      status?.replaceChildren();
    }, FEEDBACK_MS);
  };
  return made;
}
