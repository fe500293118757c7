import { element } from "../../src/dom/element.js";
import { formatCount, formatDate } from "../format.js";
import type { Administration, Preview, Value } from "./data.js";

/** How long the reader may move a slider before the database is asked, in milliseconds. */
const PAUSE_MS = 250;

/** Says how many of the newest questions the edited thresholds would answer. */
export class ThresholdPreview {
  readonly node = element("p", { class: "preview", id: "threshold-preview", role: "status" });
  readonly #administration: Administration;
  readonly #assistant: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = "";

  constructor(administration: Administration, assistant: string) {
    this.#administration = administration;
    this.#assistant = assistant;
  }

  /** Shows the thresholds as edited; `undefined` if it is not a number from 0 to 1. */
  update(threshold: Value | undefined, confidence: Value | undefined, isSaved: boolean): void {
    const asked = JSON.stringify([threshold, confidence, isSaved]);
    if (asked === this.#asked) return;
    this.#asked = asked;
    clearTimeout(this.#timer);
    if (!isThreshold(threshold) || !isThreshold(confidence)) {
      this.node.textContent = "Both thresholds must be 0 to 1.";
      return;
    }
    const read = async () => {
      const text = await this.#administration.preview(this.#assistant, threshold, confidence).then(
        (preview) => describePreview(preview, isSaved),
        (error: unknown) => `There is no preview: ${error instanceof Error ? error.message : String(error)}`,
      );
      // Another one may have been asked for meanwhile.
      if (this.#asked === asked) this.node.textContent = text;
    };
    this.#timer = setTimeout(() => void read(), PAUSE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asked = "";
  }
}

function isThreshold(value: Value | undefined): value is number | null {
  return value === null || typeof value === "number";
}

function describePreview(preview: Preview | undefined, isSaved: boolean): string {
  if (!preview || preview.questions === 0 || preview.first_day === null)
    return "There is no preview yet: no question was recorded.";
  const { questions, answered, answered_now: now, first_day: day } = preview;
  const asked = `of the last ${questions === 1 ? "question" : `${formatCount(questions)} questions`} since ${formatDate(day)}`;
  const counts = isSaved
    ? `With the saved thresholds, ${formatCount(now)} ${asked} would be answered.`
    : `With these thresholds, ${formatCount(answered)} ${asked} would be answered (now ${formatCount(now)}).`;
  return preview.has_refused ? counts : `${counts} Refused questions are not kept, so none of them is counted.`;
}
