// The time from a question to the first word of its answer, and the longest task of the page's thread meanwhile.
import { median, percentiles, round } from "../edge/lib/statistics.mjs";

const QUESTIONS = [
  "Can I get my money back after two weeks?",
  "How long does standard delivery take?",
  "What does standard delivery cost?",
  "Can I combine gift cards?",
  "How do I return an item?",
  "Do you ship to other countries?",
  "How can I track my order?",
  "Which payment methods do you accept?",
];
/** Below the limit of 20 questions per user and minute. */
const PER_USER = 12;
const WARM_UP = 4;

export async function firstWord(host) {
  const asked = Number(process.env.QUESTIONS) + WARM_UP;
  const first = [];
  const complete = [];
  const tasks = [];
  for (let index = 0; index < asked; index++) {
    if (index % PER_USER === 0) {
      await host.open({ token: await host.demo.newUser() });
      await host.ready();
    }
    await host.page.evaluate(beginWatching);
    const outcome = await host.ask(QUESTIONS[index % QUESTIONS.length]);
    const task = await host.page.evaluate(() => window.longestTask());
    if (outcome.state !== "done" && outcome.state !== "refused")
      throw new Error(`a question ended as ${outcome.state}`);
    if (index < WARM_UP) continue;
    first.push(outcome.firstWordMs);
    complete.push(outcome.completeMs);
    tasks.push(task);
  }
  return [
    ...percentiles("first_word", first),
    ...percentiles("complete", complete),
    ["longest_task_embedding_ms", round(Math.max(...tasks))],
    ["longest_task_embedding_p50_ms", round(median(tasks))],
    ["longest_task_first_use_ms", round(await firstUse(host))],
  ];
}

/** From the tag to the first answer, with the model downloaded: panel, model and answer together. */
async function firstUse(host) {
  await host.page.evaluate(() => caches.delete("evidence-chat-embedder"));
  await host.open({ token: await host.demo.newUser() });
  await host.page.evaluate(beginWatching);
  await host.ask(QUESTIONS[0]);
  return host.page.evaluate(() => window.longestTask());
}

/** Installs `longestTask()` in the page: the longest time between two iterations of a loop of tasks, in milliseconds. */
function beginWatching() {
  let longest = 0;
  let last = performance.now();
  let isOver = false;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) port2.postMessage(null);
  };
  port2.postMessage(null);
  window.longestTask = () => {
    isOver = true;
    return longest;
  };
}
