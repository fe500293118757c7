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
        return openAndAsk(host);
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

/** Milliseconds from a click on the launcher to the first word of the answer to a question that is asked at once. */
async function openAndAsk(host) {
  const { page } = host;
  await page.locator("evidence-chat [data-role=launcher]").waitFor();
  const clicked = await page.evaluate(() => {
    const launcher = document.querySelector("evidence-chat")?.shadowRoot?.querySelector("[data-role=launcher]");
    /** @type {HTMLElement} */ (launcher).click();
    return performance.now();
  });
  await page.locator("evidence-chat [data-role=input]").waitFor();
  const asked = await page.evaluate(() => performance.now());
  const { firstWordMs } = await host.ask(QUESTIONS[0], TIMEOUT_MS);
  return asked - clicked + firstWordMs;
}
