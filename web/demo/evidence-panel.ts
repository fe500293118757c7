import { byId } from "../pages/by-id.js";
import type { Citation, FoundPassage, RefusalEvent, RefusalReason } from "../src/client/wire.js";
import { element } from "../src/dom/element.js";
import type { EvidenceChatElement, MessageDetail } from "../src/index.js";
import { sectionOf } from "../src/panel/citations/documents.js";
import { onChatEvent } from "./chat-events.js";

type Outcome = MessageDetail | RefusalEvent;

/** The default of `evidence_threshold`, the column of an assistant. */
const THRESHOLD = 0.35;

/**
 * The evidence of the last answer: its passages with their similarity, and other passages near the
 * question. After a refusal, its reason.
 */
export class EvidencePanel {
  #question = "";

  constructor(chat: EvidenceChatElement) {
    onChatEvent(chat, "message", (message) => {
      if (message.role === "assistant") return this.#show(message);
      this.#question = message.text;
      this.#show(undefined, "Looking for evidence…");
    });
    onChatEvent(chat, "refusal", (refusal) => this.#show(refusal));
    onChatEvent(chat, "error", () => this.#show(undefined, IDLE));
    this.clear();
  }

  /** Clears the last question and its outcome. */
  clear(): void {
    this.#question = "";
    this.#show(undefined, IDLE);
  }

  #show(outcome: Outcome | undefined, text?: string): void {
    byId("evidence-question", HTMLElement).textContent = text === IDLE ? "" : this.#question;
    const content = outcome ? evidenceOf(outcome) : [element("p", { class: "detail" }, text)];
    byId("evidence", HTMLElement).replaceChildren(...content);
    byId("raw", HTMLElement).hidden = outcome === undefined;
    byId("raw-json", HTMLElement).textContent = outcome ? JSON.stringify(outcome, null, 2) : "";
  }
}

function evidenceOf(outcome: Outcome): HTMLElement[] {
  if (!("reason" in outcome)) {
    const cited = `Passages of the answer (threshold ${THRESHOLD})`;
    return [
      ...passageList(cited, outcome.citations),
      ...passageList("Close to the question, but not quoted", outcome.alsoFound),
    ];
  }
  return [
    element("h3", { class: "refusal" }, "No answer, on purpose."),
    element("p", { "data-reason": outcome.reason }, REASONS[outcome.reason]),
    ...passageList("Closest pages", outcome.nearest),
  ];
}

function passageList(heading: string, passages: readonly (FoundPassage | Citation)[]): HTMLElement[] {
  if (passages.length === 0) return [];
  const items = passages.map((passage) =>
    element("li", { dir: "auto", "data-chunk": passage.chunk_id }, describe(passage)),
  );
  return [element("h3", {}, heading), element("ul", { class: "passages" }, ...items)];
}

function describe(passage: FoundPassage | Citation): string {
  const { title, page, score } = passage;
  const section = sectionOf(passage);
  const strength = "strength" in passage ? passage.strength : undefined;
  return [
    section === undefined ? title : `${title} › ${section}`,
    ...(page === undefined ? [] : [`page ${page}`]),
    `cosine ${score.toFixed(2)}`,
    ...(strength === undefined ? [] : [`${strength} evidence`]),
  ].join(" · ");
}

const IDLE = "The basis of an answer: its passages, and how close they are to the question.";

const REASONS: Readonly<Record<RefusalReason, string>> = {
  no_match: `No passage is close enough to the question: none reaches the threshold of ${THRESHOLD}.`,
  weak_evidence: "Some passages are close, but unlikely to answer it.",
  unreadable_language: "The model cannot read this script, and a search by words alone finds too little.",
  no_access: "There is no document that this visitor may read.",
  empty_kb: "The knowledge base is empty.",
};
