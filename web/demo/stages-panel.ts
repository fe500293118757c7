import { byId } from "../pages/by-id.js";
import { element } from "../src/dom/element.js";
import type { EvidenceChatElement } from "../src/index.js";
import { onChatEvent } from "./chat-events.js";
import { advance, ASKED, type Course, elapsed, modelReady, type Step, stepsOf } from "./stages.js";

/** "How it works": the steps of the last question, as they happen. */
export class StagesPanel {
  readonly #rows: Row[] = [];
  #course: Course | undefined;

  constructor(chat: EvidenceChatElement) {
    onChatEvent(chat, "message", ({ role }) => role === "user" && this.#show(ASKED));
    onChatEvent(chat, "stage", (detail) => this.#show(advance(this.#course, detail)));
    onChatEvent(chat, "ready", () => this.#course && this.#show(modelReady(this.#course)));
    this.clear();
  }

  /** Clears the last question. */
  clear(): void {
    this.#show(undefined);
  }

  #show(course: Course | undefined): void {
    this.#course = course;
    byId("stages-summary", HTMLElement).textContent = summaryOf(course);
    const steps = stepsOf(course);
    const total = Math.max(1, course ? elapsed(course) : 1);
    // A refusal has one step less.
    for (const surplus of this.#rows.splice(steps.length)) surplus.root.remove();
    steps.forEach((step, at) => this.#row(at).show(step, total, notesOf(step, course)));
    showLeft(course);
  }

  #row(at: number): Row {
    const row = (this.#rows[at] ??= new Row());
    if (!row.root.isConnected) byId("stages", HTMLElement).append(row.root);
    return row;
  }
}

function summaryOf({ at }: Partial<Course> = {}): string {
  if (!at) return "Ask something and see how your question is answered.";
  if (at.failed !== undefined) return `Stopped after ${duration(at.failed)}`;
  if (at.refused !== undefined) return `Refused after ${duration(at.refused)}`;
  if (at.first_word !== undefined) return `First word after ${duration(at.first_word)}`;
  return "Your question is being answered…";
}

function notesOf({ name }: Step, course: Course | undefined): readonly string[] {
  if (name !== "embed" || !course) return [];
  const { tokens, loadedModel } = course;
  return [
    ...(loadedModel ? ["including the one-time download of the AI"] : []),
    ...(tokens === undefined ? [] : [`tokens: ${tokens}`]),
  ];
}

/** Shows what left the browser, and what a language model got, once they have it. */
function showLeft({ at, requestBytes = 0 }: Partial<Course> = {}): void {
  const isWritten = at?.writing !== undefined;
  const texts = {
    "left-size": `${(requestBytes / 1000).toFixed(1)} kB`,
    "left-model": isWritten ? "To a language model" : "To an AI vendor",
    "left-to-model": isWritten ? "question and passages, from our server" : "nothing",
  };
  for (const [id, text] of Object.entries(texts)) byId(id, HTMLElement).textContent = text;
  byId("left", HTMLElement).hidden = at?.sent === undefined;
}

/** One step on the page. It is reused when its state changes, so that the change is animated. */
class Row {
  readonly #name = element("strong");
  readonly #time = element("span", { class: "stage-time" });
  readonly #text = element("p", { class: "detail" });
  readonly #bar = element("span", { class: "stage-bar", "aria-hidden": "true" });
  readonly root = element("li", { class: "stage" }, this.#name, this.#time, this.#text, this.#bar);

  show(step: Step, total: number, notes: readonly string[]): void {
    const [name, text] = TEXTS[step.name];
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

function timeOf({ state, duration: milliseconds }: Step): string {
  if (milliseconds !== undefined) return duration(milliseconds);
  return state === "running" || state === "failed" ? state : "–";
}

function duration(milliseconds: number): string {
  return milliseconds < 2000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

const TEXTS: Readonly<Record<Step["name"], readonly [name: string, text: string]>> = {
  embed: ["Processed in your browser", "A small AI in this page turns the question into 384 numbers."],
  check: ["Checked for access", "Are you signed in? Are you asking too often?"],
  search: ["Searched", "By meaning and by words, in the documents you may see."],
  first_word: ["First word", "The best sentences are selected. None is generated."],
  write: ["Written and checked", "A language model writes. Only sentences that follow from the passages are shown."],
  refused: ["No answer", "The evidence was too weak, and the chat says so."],
  complete: ["Complete", "With every source and its quotes."],
};
