// The time from a question to the first word of its answer, and the longest task of the page's thread meanwhile.
import { median, percentiles, round } from "../edge/lib/statistics.mjs";
import { traced } from "./trace.mjs";

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
/** Questions that are asked again in a trace, which takes time of its own. */
const TRACED = 24;

export async function firstWord(host) {
  const count = Number(process.env.QUESTIONS);
  const first = [];
  const complete = [];
  await askEach(host, count, async (question) => {
    const outcome = await ask(host, question);
    first.push(outcome.firstWordMs);
    complete.push(outcome.completeMs);
  });
  const unread = [];
  const askUnread = async (question) => unread.push((await ask(host, question)).firstWordMs);
  await askEach(host, count, askUnread, { reader: "off" });
  const devtools = await host.page.context().newCDPSession(host.page);
  const longestTask = async (action) => (await traced(devtools, host.origin, action)).longestTask.ms;
  const tasks = [];
  await askEach(host, TRACED, async (question) => tasks.push(await longestTask(() => ask(host, question))));
  const token = await host.demo.newUser();
  await host.page.evaluate(() => caches.delete("evidence-chat-embedder"));
  const firstUse = await longestTask(() => useFirst(host, token));
  await devtools.detach();
  return [
    ...percentiles("first_word", first),
    ...percentiles("first_word_without_reader", unread),
    ...percentiles("complete", complete),
    ["longest_task_embedding_ms", round(Math.max(...tasks))],
    ["longest_task_embedding_p50_ms", round(median(tasks))],
    ["longest_task_first_use_ms", round(firstUse)],
  ];
}

/** Calls `measured` with `count` questions, after others that warm up. */
async function askEach(host, count, measured, attributes = {}) {
  for (let index = 0; index < count + WARM_UP; index++) {
    if (index % PER_USER === 0) {
      await host.open({ token: await host.demo.newUser(), attributes });
      await host.ready();
    }
    const question = QUESTIONS[index % QUESTIONS.length];
    await (index < WARM_UP ? ask(host, question) : measured(question));
  }
}

async function ask(host, question) {
  const outcome = await host.ask(question);
  if (outcome.state !== "done" && outcome.state !== "refused") throw new Error(`a question ended as ${outcome.state}`);
  return outcome;
}

/** From the visit to the first answer, with the model downloaded: panel, model and answer together. */
async function useFirst(host, token) {
  await host.open({ token });
  await ask(host, QUESTIONS[0]);
}
