// What the threads of a page do, from Chromium's own trace: the longest task of the page's thread, and what wakes threads up.

const CATEGORIES = ["devtools.timeline", "v8.execute", "disabled-by-default-devtools.timeline"];
/** Events of the trace that begin with a timer, a frame or a request of the page or of one of its workers. */
const WAKE_UPS = ["TimerFire", "FireAnimationFrame", "FireIdleCallback", "ResourceSendRequest"];

/**
 * Traces the page while `action` runs. Times are milliseconds.
 * @template T
 * @param {import("playwright-core").CDPSession} devtools
 * @param {string} origin of the page
 * @param {() => Promise<T>} action whose result is returned, too
 */
export async function traced(devtools, origin, action) {
  const events = [];
  const collect = ({ value }) => events.push(...value);
  devtools.on("Tracing.dataCollected", collect);
  const traceConfig = { includedCategories: CATEGORIES, excludedCategories: ["*"] };
  await devtools.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  const result = await action();
  const complete = new Promise((resolve) => devtools.once("Tracing.tracingComplete", resolve));
  await devtools.send("Tracing.end");
  await complete;
  devtools.off("Tracing.dataCollected", collect);
  const processes = processesOf(origin, events);
  const own = events.filter(({ pid }) => processes.has(pid));
  const wakeUps = own.filter(({ name }) => WAKE_UPS.includes(name)).map(describe);
  return {
    result,
    wakeUps,
    get longestTask() {
      return longestTask(own);
    },
  };
}

/** The processes that show pages of this origin. */
function processesOf(origin, events) {
  const frames = events.flatMap(({ name, args }) => {
    if (name === "TracingStartedInBrowser") return args.data.frames ?? [];
    return name === "FrameCommittedInBrowser" ? [args.data] : [];
  });
  return new Set(frames.filter(({ url }) => url?.startsWith(origin)).map(({ processId }) => processId));
}

/**
 * `ms` is the CPU time of the thread, which does not depend on what else the machine does; `owner` what took most of it. Not counted:
 * tasks in which the browser replaces a page or evaluates what the driver of these benches injects.
 */
function longestTask(events) {
  const isPageThread = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(threadOf),
  );
  const timed = events.filter((event) => event.ph === "X" && isPageThread.has(threadOf(event)));
  const parts = timed.filter(({ name }) => name !== "RunTask");
  const partsOf = (task) =>
    parts.filter((event) => threadOf(event) === threadOf(task) && event.ts >= task.ts && end(event) <= end(task));
  const tasks = timed.filter(({ name }) => name === "RunTask").sort((a, b) => cpuMs(b) - cpuMs(a));
  const longest = tasks.find((task) => !partsOf(task).some(isForeign));
  if (!longest || cpuMs(longest) === 0) throw new Error("the trace has no task of the page's thread");
  const [most] = partsOf(longest).sort((a, b) => cpuMs(b) - cpuMs(a));
  return { ms: cpuMs(longest), owner: most ? describe(most) : "no event" };
}

/** A script of the page has a URL. */
const isForeign = ({ name, args }) => name === "CommitLoad" || (name === "EvaluateScript" && !args?.data?.url);

const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
const end = ({ ts, dur = 0 }) => ts + dur;
const cpuMs = ({ tdur = 0 }) => tdur / 1000;

/** The event's name, and the script or kind of event that it is about. */
function describe({ name, args }) {
  const { url, functionName, type } = args?.data ?? {};
  const file = typeof url === "string" ? url.slice(url.lastIndexOf("/") + 1) : "";
  return [name, type, functionName, file].filter(Boolean).join(" ");
}
