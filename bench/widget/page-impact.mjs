// What the tag costs a page whose visitor never opens the widget: the page with it minus the page without it, measured alternately.
import { median, round } from "../edge/lib/statistics.mjs";

const RUNS = 11;

export async function pageImpact({ page, origin }) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const runs = { blank: [], tag: [] };
  for (let run = 0; run < RUNS; run++) {
    for (const name of ["blank", "tag"]) runs[name].push(await visit(page, devtools, origin, name));
  }
  await devtools.detach();
  const figure = (name, unit) => {
    const middle = (page) => median(runs[page].map((run) => run[name]));
    return [`page_${name}${unit}`, round(middle("tag") - middle("blank"))];
  };
  return [
    figure("first_paint", "_ms"),
    figure("script", "_ms"),
    figure("tasks", "_ms"),
    figure("heap", "_mib"),
    figure("requests", ""),
    ["layout_shift", Math.max(...runs.tag.map(({ shift }) => shift))],
    ["page_long_tasks", Math.max(...runs.tag.map(({ longTasks }) => longTasks))],
  ];
}

async function visit(page, devtools, origin, name) {
  await page.goto("about:blank");
  await page.goto(`${origin}/host/${name}`);
  if (name === "tag") {
    await page.evaluate(() => {
      document.body.insertAdjacentHTML("beforeend", '<evidence-chat mode="floating"></evidence-chat>');
    });
  }
  await page.waitForLoadState("networkidle");
  const { metrics } = await devtools.send("Performance.getMetrics");
  const metric = (wanted) => metrics.find(({ name }) => name === wanted).value;
  const seen = await page.evaluate(async () => {
    const observed = (type) =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type, buffered: true });
        setTimeout(() => resolve([]), 100);
      });
    const shifts = await observed("layout-shift");
    return {
      first_paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
      requests: performance.getEntriesByType("resource").length,
      shift: shifts.reduce((sum, { value }) => sum + value, 0),
      longTasks: (await observed("longtask")).length,
    };
  });
  return {
    ...seen,
    script: metric("ScriptDuration") * 1000,
    tasks: metric("TaskDuration") * 1000,
    heap: metric("JSHeapUsedSize") / 2 ** 20,
  };
}
