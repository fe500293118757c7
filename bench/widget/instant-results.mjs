// Instant results: the time from a key to the frame that shows the results of the text, and the searches that a typed question costs.
import { percentiles, round } from "../edge/lib/statistics.mjs";

const QUESTIONS = [
  "can I get my money back after two weeks",
  "how long does standard delivery take",
  "which payment methods do you accept",
  "do you ship to other countries",
];
/** Times between the keys of somebody who types 60 words a minute, in milliseconds: 200 on average. */
const GAPS = [120, 180, 90, 260, 150, 210, 110, 330, 170, 240, 140, 400];

export async function instantResults(host) {
  await host.open({ token: await host.demo.newUser() });
  await host.ready();
  const input = host.page.locator("evidence-chat").locator("[data-role=input]");
  await input.focus();
  // Loads the code and warms up.
  await input.pressSequentially("refunds and returns", { delay: 100 });
  await host.page.locator("evidence-chat").locator("[data-role=result]").first().waitFor();
  let searches = 0;
  host.page.on(
    "request",
    (request) => (searches += Number(request.method() === "POST" && request.url().endsWith("/api/search"))),
  );
  await host.page.evaluate(watchResults);
  const times = [];
  const costs = [];
  let keys = 0;
  for (let round = 0; round < Math.max(1, Number(process.env.QUESTIONS) / 10); round++) {
    const question = QUESTIONS[round % QUESTIONS.length] ?? "";
    await input.fill("");
    searches = 0;
    for (const [at, key] of [...question].entries()) {
      await host.page.keyboard.press(key === " " ? "Space" : key);
      await host.page.waitForTimeout(GAPS[at % GAPS.length] ?? 0);
    }
    await host.page.waitForTimeout(300);
    times.push(...(await host.page.evaluate(() => window.resultTimes.splice(0))));
    costs.push(searches);
    keys += question.length;
  }
  if (times.length === 0) throw new Error("no results were shown");
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return [
    ...percentiles("instant_results", times),
    ["instant_results_searches_per_question", round(total / costs.length)],
    ["instant_results_searches_per_key", round(total / keys)],
  ];
}

/** Runs in the page: collects the time from the last key before results were drawn to the frame after they were. */
function watchResults() {
  window.resultTimes = [];
  const root = /** @type {ShadowRoot} */ (document.querySelector("evidence-chat")?.shadowRoot);
  let keyAt = 0;
  root.addEventListener("input", () => (keyAt = performance.now()), true);
  const list = /** @type {HTMLElement} */ (root.querySelector("[data-role=results]"));
  new MutationObserver(() => {
    if (list.hidden || keyAt === 0) return;
    const began = keyAt;
    keyAt = 0;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.resultTimes.push(performance.now() - began);
      port2.postMessage(null);
    });
  }).observe(list, { childList: true });
}
