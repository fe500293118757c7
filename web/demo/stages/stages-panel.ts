import { element } from "../../src/dom/element.js";
import type { EvidenceChatElement } from "../../src/index.js";
import { onChatEvent } from "../chat-events.js";
import { duration, number } from "../format.js";
import { byId } from "../page.js";
import { advance, ASKED, type Course, elapsed, modelReady, type Step, stepsOf } from "./course.js";

/** "How it works": the steps of the last question, as they happen. */
export class StagesPanel {
  readonly #rows: Row[] = [];
  #course: Course | undefined;

  constructor(chat: EvidenceChatElement) {
    onChatEvent(chat, "message", ({ role }) => role === "user" && this.#show(ASKED));
    onChatEvent(chat, "stage", (detail) => this.#show(advance(this.#course, detail)));
    onChatEvent(chat, "ready", () => this.#course && this.#show(modelReady(this.#course)));
    this.#draw();
  }

  /** Clears the last question. */
  clear(): void {
    this.#show(undefined);
  }

  #show(course: Course | undefined): void {
    this.#course = course;
    this.#draw();
  }

  #draw(): void {
    byId("stages-summary", HTMLElement).textContent = this.#summary();
    const steps = stepsOf(this.#course);
    const total = Math.max(1, this.#course ? elapsed(this.#course) : 1);
    // A refusal has one step less.
    for (const surplus of this.#rows.splice(steps.length)) surplus.root.remove();
    steps.forEach((step, at) => this.#row(at).show(step, total, this.#notes(step)));
    this.#drawLeft();
  }

  #row(at: number): Row {
    const row = (this.#rows[at] ??= new Row());
    if (!row.root.isConnected) byId("stages", HTMLElement).append(row.root);
    return row;
  }

  #summary(): string {
    const { at } = this.#course ?? {};
    if (!at) return "Ask something and see how your question is answered.";
    if (at.failed !== undefined) return `Stopped after ${duration(at.failed)}`;
    if (at.refused !== undefined) return `Refused after ${duration(at.refused)}`;
    if (at.first_word !== undefined) return `First word after ${duration(at.first_word)}`;
    return "Your question is being answered…";
  }

  #notes({ name }: Step): readonly string[] {
    if (name !== "embed" || !this.#course) return [];
    const { tokens, loadedModel } = this.#course;
    return [
      ...(loadedModel ? ["including the one-time download of the AI"] : []),
      ...(tokens === undefined ? [] : [`tokens: ${number(tokens)}`]),
    ];
  }

  /** Shows what left the browser, and what a language model got, once they have it. */
  #drawLeft(): void {
    const bytes = this.#course?.requestBytes;
    const isWritten = this.#course?.at.writing !== undefined;
    byId("left-model", HTMLElement).textContent = isWritten ? "To a language model" : "To an AI vendor";
    byId("left-to-model", HTMLElement).textContent = isWritten ? "question and passages, from our server" : "nothing";
    byId("left", HTMLElement).hidden = this.#course?.at.sent === undefined;
    byId("left-size-row", HTMLElement).hidden = bytes === undefined;
    if (bytes === undefined) return;
    byId("left-size", HTMLElement).textContent = number(bytes / 1000, {
      style: "unit",
      unit: "kilobyte",
      maximumFractionDigits: 1,
    });
  }
}

/** One step on the page. It is reused when its state changes, so that the change is animated. */
class Row {
  readonly #name = element("span", { class: "stage-name" });
  readonly #time = element("span", { class: "stage-time" });
  readonly #text = element("p", { class: "stage-text" });
  readonly #bar = element("span", { class: "stage-bar", "aria-hidden": "true" });
  readonly root = element("li", { class: "stage" }, this.#name, this.#time, this.#text, this.#bar);

  show(step: Step, total: number, notes: readonly string[]): void {
    const { name, text } = TEXTS[step.name];
    this.root.dataset.stage = step.name;
    this.root.dataset.state = step.state;
    this.#name.textContent = name;
    this.#time.textContent = timeOf(step);
    this.#text.textContent = [text, ...notes].join(" · ");
    const start = (step.start ?? 0) / total;
    // Through CSSOM, because a strict `style-src` forbids the attribute.
    this.#bar.style.setProperty("--start", start.toFixed(4));
    this.#bar.style.setProperty("--length", barLength(step, start, total).toFixed(4));
  }
}

/** Length of the bar as a fraction of the total time. */
function barLength({ state, duration }: Step, start: number, total: number): number {
  if (duration !== undefined) return duration / total;
  return state === "running" ? 1 - start : 0;
}

function timeOf(step: Step): string {
  if (step.duration !== undefined) return duration(step.duration);
  return step.state === "running" || step.state === "failed" ? step.state : "–";
}

const TEXTS: Readonly<Record<Step["name"], { readonly name: string; readonly text: string }>> = {
  embed: {
    name: "Processed in your browser",
    text: "A small AI in this page turns the question into 384 numbers.",
  },
  check: { name: "Checked for access", text: "Are you signed in? Are you asking too often?" },
  search: { name: "Searched", text: "By meaning and by words, in the documents you may see." },
  first_word: { name: "First word", text: "The best sentences are selected. None is generated." },
  write: {
    name: "Written and checked",
    text: "A language model writes. Only sentences that follow from the passages are shown.",
  },
  refused: { name: "No answer", text: "The evidence was too weak, and the chat says so." },
  complete: { name: "Complete", text: "With every source and its quotes." },
};
