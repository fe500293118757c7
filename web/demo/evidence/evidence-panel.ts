import { element, set } from "../../src/dom/element.js";
import type { Citation, RefusalEvent } from "../../src/client/wire.js";
import type { EvidenceChatElement, MessageDetail } from "../../src/index.js";
import { onChatEvent } from "../chat-events.js";
import { copyOnClick } from "../copy.js";
import { byId } from "../page.js";
import { citationSlip } from "./citation-slip.js";
import { passageList } from "./passage-list.js";
import { refusalSlip } from "./refusal-slip.js";

type Outcome = MessageDetail | RefusalEvent;

/**
 * The evidence of the last answer: its passages with similarity and quotes, and below them other passages near the
 * question. After a refusal, its reason.
 */
export class EvidencePanel {
  #question = "";
  #isWaiting = false;
  #outcome: Outcome | undefined;
  /** The passage that the visitor opened in the chat. */
  #opened: string | undefined;

  constructor(chat: EvidenceChatElement) {
    onChatEvent(chat, "message", (message) =>
      message.role === "user" ? this.#wait(message.text) : this.#show(this.#question, message),
    );
    onChatEvent(chat, "refusal", (refusal) => this.#show(this.#question, refusal));
    onChatEvent(chat, "error", () => this.#giveUp());
    onChatEvent(chat, "citation-open", ({ citation }) => this.#open(citation));
    copyOnClick(byId("raw-copy", HTMLButtonElement), () => this.#raw());
    this.#draw();
  }

  /** Clears the last question and its outcome. */
  clear(): void {
    this.#show("", undefined);
  }

  #wait(question: string): void {
    this.#show(question, undefined);
    this.#isWaiting = true;
    this.#draw();
  }

  /** Stops waiting, but keeps the question for a retry. */
  #giveUp(): void {
    this.#isWaiting = false;
    this.#draw();
  }

  #show(question: string, outcome: Outcome | undefined): void {
    this.#question = question;
    this.#isWaiting = false;
    this.#outcome = outcome;
    this.#opened = undefined;
    this.#draw();
  }

  /** Shows the opened passage; one of an older answer is shown alone. */
  #open(citation: Citation): void {
    const isShown = citationsOf(this.#outcome).some(({ chunk_id }) => chunk_id === citation.chunk_id);
    if (!isShown) this.#show("", { ...ALONE, citations: [citation] });
    this.#opened = citation.chunk_id;
    this.#markOpened();
  }

  /** Marks the opened passage and scrolls the panel to it. */
  #markOpened(): void {
    for (const slip of byId("evidence", HTMLElement).querySelectorAll<HTMLElement>("[data-chunk]")) {
      const isOpened = slip.dataset.chunk === this.#opened;
      set(slip, "aria-current", isOpened && "true");
      if (isOpened) scrollWithin(byId("panels", HTMLElement), slip);
    }
  }

  #draw(): void {
    const question = byId("evidence-question", HTMLElement);
    question.textContent = this.#question;
    question.hidden = this.#question === "" || (!this.#isWaiting && !this.#outcome);
    byId("evidence", HTMLElement).replaceChildren(...this.#content());
    byId("raw", HTMLElement).hidden = this.#outcome === undefined;
    byId("raw-json", HTMLElement).textContent = this.#raw();
    this.#markOpened();
  }

  #content(): HTMLElement[] {
    const outcome = this.#outcome;
    if (!outcome) {
      const text = this.#isWaiting ? "Looking for evidence…" : IDLE;
      return [element("p", { class: "panel-lead" }, text)];
    }
    if ("reason" in outcome) return [refusalSlip(outcome)];
    const { citations, alsoFound } = outcome;
    return [
      ...citations.map(citationSlip),
      ...(alsoFound.length > 0 ? [passageList("Close to the question, but not quoted.", alsoFound)] : []),
    ];
  }

  #raw(): string {
    return this.#outcome ? JSON.stringify(this.#outcome, null, 2) : "";
  }
}

const IDLE = "The basis of an answer: its passages, how close they are to the question, and the quotes.";

const ALONE = {
  role: "assistant",
  text: "",
  mode: "extractive",
  hedged: false,
  alsoFound: [],
  sessionId: undefined,
} as const;

function citationsOf(outcome: Outcome | undefined): readonly Citation[] {
  return outcome && "citations" in outcome ? outcome.citations : [];
}

/** Scrolls only the panel, not the page, because the visitor is looking at the chat. */
function scrollWithin(box: HTMLElement, target: HTMLElement): void {
  const { top, bottom } = box.getBoundingClientRect();
  const at = target.getBoundingClientRect();
  if (at.top < top) box.scrollTop += at.top - top;
  else if (at.bottom > bottom) box.scrollTop += Math.min(at.top - top, at.bottom - bottom);
}
