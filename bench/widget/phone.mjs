// A first and a second visit on an emulated phone, and what the closed widget does: the page's thread is four times slower, the
// network is 4G. Chromium slows only the thread of the page, not its workers.
import { openBrowser } from "../../tests/lib/browser.mjs";
import { HostPage } from "../../tests/lib/host-page.mjs";
import { median, round } from "../edge/lib/statistics.mjs";
import { traced } from "./trace.mjs";

const SLOWDOWN = 4;
/** What Chromium's developer tools call "Fast 4G". */
const NETWORK = { offline: false, latency: 165, downloadThroughput: 1_012_500, uploadThroughput: 168_750 };
const SCREEN = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };
/** How long a finger stays on the screen for a tap. */
const TAP_MS = 70;
/** The first question waits for the model. */
const TIMEOUT_MS = 120_000;
const IDLE_MS = 5000;
/** The widget finishes what it has begun, such as an animation. */
const SETTLE_MS = 3000;
const QUESTIONS = [
  "Can I get my money back after two weeks?",
  "How long does standard delivery take?",
  "Can I combine gift cards?",
  "How do I return an item?",
  "Do you ship to other countries?",
];

export async function phone({ demo }) {
  const browser = await openBrowser(SCREEN);
  try {
    const { page } = browser;
    const host = await HostPage.prepare(page, demo);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", NETWORK);
    const watch = (action) => traced(devtools, host.origin, action);
    const visit = async () => {
      const token = await demo.newUser();
      const { result, longestTask } = await watch(async () => {
        await host.open({ token, attributes: { mode: "floating" } });
        return openAndAsk(host, devtools);
      });
      return { ms: result, task: longestTask };
    };
    const first = await visit();
    const second = await visit();
    const answers = [];
    for (const question of QUESTIONS.slice(1)) {
      const { result, longestTask } = await watch(() => host.ask(question, TIMEOUT_MS));
      answers.push({ ms: result.firstWordMs, task: longestTask });
    }
    await page.evaluate(() => document.querySelector("evidence-chat")?.close());
    await page.waitForTimeout(SETTLE_MS);
    const { wakeUps } = await watch(() => new Promise((resolve) => setTimeout(resolve, IDLE_MS)));
    const slowest = answers.map(({ task }) => task).sort((a, b) => b.ms - a.ms)[0];
    return {
      figures: [
        ["phone_first_use_ms", round(first.ms)],
        ["phone_second_use_ms", round(second.ms)],
        ["phone_answer_p50_ms", round(median(answers.map(({ ms }) => ms)))],
        ["phone_longest_task_first_use_ms", round(first.task.ms)],
        ["phone_longest_task_second_use_ms", round(second.task.ms)],
        ["phone_longest_task_answer_ms", round(slowest.ms)],
        ["phone_idle_wake_ups", wakeUps.length],
      ],
      context: {
        phone_longest_tasks: `${first.task.owner} (first use), ${second.task.owner} (second use), ${slowest.owner} (answer)`,
        phone_wake_ups: wakeUps.join(", "),
      },
    };
  } finally {
    await browser.close();
  }
}

/** Milliseconds from the end of a tap on the launcher to the first word of the answer to a question that is asked at once. */
async function openAndAsk(host, devtools) {
  const { page } = host;
  // The page is read with functions of its own: locators would evaluate Playwright's code in it meanwhile.
  const { x, y } = await page.evaluate(placeOfLauncher);
  await page.evaluate(watchOpening);
  await devtools.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
  await page.waitForTimeout(TAP_MS);
  await devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  const openedMs = await page.evaluate(() => window.opened);
  const { firstWordMs } = await host.ask(QUESTIONS[0], TIMEOUT_MS);
  return openedMs + firstWordMs;
}

/** Runs in the page: the middle of the launcher, once it is there. */
async function placeOfLauncher() {
  for (;;) {
    const launcher = document.querySelector("evidence-chat")?.shadowRoot?.querySelector("[data-role=launcher]");
    const { x = 0, y = 0, width = 0, height = 0 } = launcher?.getBoundingClientRect() ?? {};
    if (width > 0) return { x: x + width / 2, y: y + height / 2 };
    await new Promise(requestAnimationFrame);
  }
}

/** Runs in the page: `opened` is the time from the end of the tap until the question box is there, in milliseconds. */
function watchOpening() {
  const root = /** @type {ShadowRoot} */ (document.querySelector("evidence-chat")?.shadowRoot);
  window.opened = new Promise((resolve) => {
    addEventListener("pointerup", ({ timeStamp }) => {
      const check = () => {
        if (root.querySelector("[data-role=input]")?.checkVisibility()) resolve(performance.now() - timeStamp);
        else requestAnimationFrame(check);
      };
      check();
    });
  });
}
