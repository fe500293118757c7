import { element } from "../../src/dom/element.js";
import type { EvidenceChatElement } from "../../src/index.js";
import { onChatEvent } from "../chat-events.js";
import type { PageLanguage } from "../language.js";
import { byId } from "../page.js";
import type { TextKey } from "../texts/texts.js";
import { advance, ASKED, type Course, elapsed, modelReady, type Step, stepsOf } from "./course.js";

/** "How it works": the steps of the last question, as they happen. */
export class StagesPanel {
  readonly #language: PageLanguage;
  readonly #rows: Row[] = [];
  #course: Course | undefined;

  constructor(chat: EvidenceChatElement, language: PageLanguage) {
    this.#language = language;
    onChatEvent(chat, "message", ({ role }) => role === "user" && this.#show(ASKED));
    onChatEvent(chat, "stage", (detail) => this.#show(advance(this.#course, detail)));
    onChatEvent(chat, "ready", () => this.#course && this.#show(modelReady(this.#course)));
    language.onChange(() => this.#draw());
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
    steps.forEach((step, at) => this.#row(at).show(step, total, this.#language, this.#notes(step)));
    this.#drawLeft();
  }

  #row(at: number): Row {
    const row = (this.#rows[at] ??= new Row());
    if (!row.root.isConnected) byId("stages", HTMLElement).append(row.root);
    return row;
  }

  #summary(): string {
    const { at } = this.#course ?? {};
    if (!at) return this.#language.say("stagesIdle");
    const after = (key: TextKey, time: number) => this.#language.say(key, { time: this.#language.duration(time) });
    if (at.failed !== undefined) return after("stagesFailed", at.failed);
    if (at.refused !== undefined) return after("stagesRefused", at.refused);
    if (at.first_word !== undefined) return after("stagesAnswered", at.first_word);
    return this.#language.say("stagesUnderWay");
  }

  #notes({ name }: Step): readonly string[] {
    if (name !== "embed" || !this.#course) return [];
    const { tokens, loadedModel } = this.#course;
    return [
      ...(loadedModel ? [this.#language.say("withModel")] : []),
      ...(tokens === undefined ? [] : [this.#language.say("tokens", { count: this.#language.number(tokens) })]),
    ];
  }

  /** Shows what left the browser, and what a language model got, once they have it. */
  #drawLeft(): void {
    const bytes = this.#course?.requestBytes;
    const isWritten = this.#course?.at.writing !== undefined;
    byId("left-model", HTMLElement).textContent = this.#language.say(isWritten ? "leftModel" : "leftVendor");
    byId("left-to-model", HTMLElement).textContent = this.#language.say(isWritten ? "leftWritten" : "leftNothing");
    byId("left", HTMLElement).hidden = this.#course?.at.sent === undefined;
    byId("left-size-row", HTMLElement).hidden = bytes === undefined;
    if (bytes === undefined) return;
    byId("left-size", HTMLElement).textContent = this.#language.number(bytes / 1000, {
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

  show(step: Step, total: number, language: PageLanguage, notes: readonly string[]): void {
    const { name, text } = TEXTS[step.name];
    this.root.dataset.stage = step.name;
    this.root.dataset.state = step.state;
    this.#name.textContent = language.say(name);
    this.#time.textContent = timeOf(step, language);
    this.#text.textContent = [language.say(text), ...notes].join(" · ");
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

function timeOf({ state, duration }: Step, language: PageLanguage): string {
  if (duration !== undefined) return language.duration(duration);
  if (state === "running") return language.say("running");
  if (state === "failed") return language.say("failed");
  return "–";
}

const TEXTS: Readonly<Record<Step["name"], { readonly name: TextKey; readonly text: TextKey }>> = {
  embed: { name: "stageEmbed", text: "stageEmbedText" },
  check: { name: "stageCheck", text: "stageCheckText" },
  search: { name: "stageSearch", text: "stageSearchText" },
  first_word: { name: "stageFirstWord", text: "stageFirstWordText" },
  write: { name: "stageWrite", text: "stageWriteText" },
  refused: { name: "stageRefused", text: "stageRefusedText" },
  complete: { name: "stageComplete", text: "stageCompleteText" },
};
