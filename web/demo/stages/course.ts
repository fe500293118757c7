import type { StageDetail } from "../../src/index.js";

/** The way of one question, as far as it is known. Times are milliseconds since it was asked. */
export interface Course {
  /** When each stage was reported. */
  readonly at: { readonly [stage in StageDetail["stage"]]?: number };
  readonly serverTiming?: Readonly<Record<string, number>>;
  readonly tokens?: number;
  /** Size of the request's body. */
  readonly requestBytes?: number;
  /** Whether the model was loaded while the question waited for it. */
  readonly loadedModel: boolean;
}

/** One step of the way, as it is shown. */
export interface Step {
  readonly name: "embed" | "check" | "search" | "first_word" | "refused" | "complete";
  readonly state: "waiting" | "running" | "done" | "failed";
  /** When it began, and how long it took; missing where nobody measured it. */
  readonly start?: number;
  readonly duration?: number;
}

/** The course of a question that was asked just now. */
export const ASKED: Course = { at: {}, loadedModel: false };

/** The course after the next report. A question that is asked again begins a new one. */
export function advance(course: Course | undefined, detail: StageDetail): Course {
  const { stage, milliseconds, serverTiming, tokens, requestBytes } = detail;
  const isNew = course === undefined || isOver(course) || (stage === "embedding" && course.at.embedding !== undefined);
  const before = isNew ? ASKED : course;
  return {
    ...before,
    at: { ...before.at, [stage]: milliseconds },
    ...(serverTiming && { serverTiming }),
    ...(tokens !== undefined && { tokens }),
    ...(requestBytes !== undefined && { requestBytes }),
  };
}

/** The course when the model has become ready. */
export function modelReady(course: Course): Course {
  const isWaiting = course.at.embedded === undefined && course.at.sent === undefined && !isOver(course);
  return isWaiting ? { ...course, loadedModel: true } : course;
}

/** Whether nothing more will come. */
export function isOver({ at }: Course): boolean {
  return at.complete !== undefined || at.refused !== undefined || at.failed !== undefined;
}

/** The latest time that is known. */
export function elapsed({ at }: Course): number {
  return Math.max(0, ...Object.values(at));
}

/** The steps to show, in their order. */
export function stepsOf(course: Course | undefined): readonly Step[] {
  if (!course) return NAMES.map((name) => ({ name, state: "waiting" }));
  const { at } = course;
  const sent = at.sent ?? at.embedded;
  const answered = at.refused ?? at.first_word;
  const steps = [
    // From the question on: the model may have to be loaded first.
    step("embed", 0, at.embedded ?? sent),
    ...serverSteps(course, sent, answered),
    ...(at.refused === undefined ? [step("complete", at.first_word, at.complete)] : []),
  ];
  return at.failed === undefined ? steps : stopped(steps);
}

/** What happens between sending and the first word. Its parts are known only when the server has told its timings. */
function serverSteps({ at, serverTiming }: Course, sent?: number, answered?: number): Step[] {
  const last = at.refused === undefined ? "first_word" : "refused";
  if (sent === undefined || answered === undefined) {
    const state = sent === undefined ? "waiting" : "running";
    return [
      { name: "check", state },
      { name: "search", state },
      { name: last, state: "waiting" },
    ];
  }
  if (!serverTiming)
    return [{ name: "check", state: "done" }, { name: "search", state: "done" }, step(last, sent, answered)];
  const { auth = 0, admission = 0, settings = 0, search = 0 } = serverTiming;
  // Rounded to whole milliseconds by the server: their sum may exceed what the browser has measured.
  const checked = Math.min(sent + auth + admission + settings, answered);
  const searched = Math.min(checked + search, answered);
  return [step("check", sent, checked), step("search", checked, searched), step(last, searched, answered)];
}

function step(name: Step["name"], start: number | undefined, end: number | undefined): Step {
  if (start === undefined) return { name, state: "waiting" };
  if (end === undefined) return { name, state: "running", start };
  return { name, state: "done", start, duration: Math.max(0, end - start) };
}

/** The first step that was not done is the one that failed; those after it never began. */
function stopped(steps: readonly Step[]): readonly Step[] {
  const failed = steps.findIndex(({ state }) => state !== "done");
  return steps.map((one, at) => {
    if (one.state === "done") return one;
    return { name: one.name, state: at === failed ? "failed" : "waiting" };
  });
}

const NAMES: readonly Step["name"][] = ["embed", "check", "search", "first_word", "complete"];
