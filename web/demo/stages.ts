import type { StageDetail } from "../src/index.js";

/** The known progress of one question. Times are milliseconds since it was asked. */
export interface Course {
  /** The time of each reported stage. */
  readonly at: { readonly [stage in StageDetail["stage"]]?: number };
  readonly serverTiming?: Readonly<Record<string, number>>;
  readonly tokens?: number;
  /** Size of the request body in bytes. */
  readonly requestBytes?: number;
  /** Whether the question had to wait for the model to load. */
  readonly loadedModel: boolean;
}

/** One step, as it is shown. */
export interface Step {
  readonly name: "embed" | "check" | "search" | "first_word" | "write" | "refused" | "complete";
  readonly state: "waiting" | "running" | "done" | "failed";
  /** Start and duration; missing if they were not measured. */
  readonly start?: number;
  readonly duration?: number;
}

/** The course of a new question. */
export const ASKED: Course = { at: {}, loadedModel: false };

/** The course after the next stage. A retry starts a new course. */
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

/** The course after the model was loaded. */
export function modelReady(course: Course): Course {
  const isWaiting = course.at.embedded === undefined && course.at.sent === undefined && !isOver(course);
  return isWaiting ? { ...course, loadedModel: true } : course;
}

/** Whether the question has ended. */
export function isOver({ at }: Course): boolean {
  return at.complete !== undefined || at.refused !== undefined || at.failed !== undefined;
}

/** The latest known time. */
export function elapsed({ at }: Course): number {
  return Math.max(0, ...Object.values(at));
}

/** The steps to show, in order. */
export function stepsOf(course: Course | undefined): readonly Step[] {
  if (!course) return NAMES.map((name) => ({ name, state: "waiting" }));
  const { at } = course;
  const sent = at.sent ?? at.embedded;
  const answered = at.refused ?? at.first_word;
  const steps = [
    // Starts with the question, because the model may have to be loaded first.
    step("embed", 0, at.embedded ?? sent),
    ...serverSteps(course, sent, answered),
    ...(at.refused === undefined ? [step("complete", at.first_word, at.complete)] : []),
  ];
  return at.failed === undefined ? steps : stopped(steps);
}

/** The steps between sending and the first word. Their times come from the server's timings. */
function serverSteps({ at, serverTiming }: Course, sent?: number, answered?: number): Step[] {
  const last = at.refused !== undefined ? "refused" : at.writing !== undefined ? "write" : "first_word";
  if (at.writing !== undefined && answered === undefined)
    return [{ name: "check", state: "done" }, { name: "search", state: "done" }, step(last, at.writing, undefined)];
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
  // The server rounds to whole milliseconds, so their sum may exceed the time that the browser measured.
  const checked = Math.min(sent + auth + admission + settings, answered);
  const searched = Math.min(checked + search, answered);
  return [step("check", sent, checked), step("search", checked, searched), step(last, searched, answered)];
}

function step(name: Step["name"], start: number | undefined, end: number | undefined): Step {
  if (start === undefined) return { name, state: "waiting" };
  if (end === undefined) return { name, state: "running", start };
  return { name, state: "done", start, duration: Math.max(0, end - start) };
}

/** Marks the first unfinished step as failed; the steps after it have not begun. */
function stopped(steps: readonly Step[]): readonly Step[] {
  const failed = steps.findIndex(({ state }) => state !== "done");
  return steps.map((one, at) => {
    if (one.state === "done") return one;
    return { name: one.name, state: at === failed ? "failed" : "waiting" };
  });
}

const NAMES: readonly Step["name"][] = ["embed", "check", "search", "first_word", "complete"];
