// The time from the click on a conversation of 200 messages in the history to the frame that shows it.
import { median, round } from "../edge/lib/statistics.mjs";
import { ask, answerText, only } from "../../tests/lib/chat.mjs";

const MESSAGES = 200;
const RUNS = 9;

export async function restore(host) {
  const { demo, page } = host;
  const token = await demo.newUser();
  await fill(demo, token);
  await host.open({ token });
  await host.ready();
  const times = [];
  for (let run = 0; run < RUNS; run++) times.push(await page.evaluate(openFirst, MESSAGES));
  return [
    ["restore_200_ms", round(median(times))],
    ["restore_200_first_ms", round(times[0])],
  ];
}

/** Repeats a real answer with its sources until there are enough messages. */
async function fill(demo, token) {
  const question = "Can I get my money back after two weeks?";
  const { events } = await ask(demo.info.chat_url, token, question);
  const { session_id } = only(events, "answer_start");
  const content = answerText(events);
  const { citations } = only(events, "sources");
  const stored = citations.map(({ download_url, ...citation }) => citation);
  for (let count = 2; count < MESSAGES; count += 2) {
    for (const message of [
      { role: "user", content: `${question} (${count / 2})`, citations: [] },
      { role: "assistant", content, citations: stored },
    ]) {
      await demo.rest("POST", "chat_messages", { body: { session_id, ...message } });
    }
  }
}

async function openFirst(expected) {
  const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
  const shadowRoot = /** @type {ShadowRoot} */ (chat.shadowRoot);
  const find = (role) => /** @type {HTMLElement} */ (shadowRoot.querySelector(`[data-role=${role}]`));
  const until = async (condition) => {
    for (let frame = 0; !condition(); frame++) {
      if (frame > 1200) throw new Error("the conversation was not shown");
      await new Promise(requestAnimationFrame);
    }
  };
  find("history-open").click();
  // By then, the list of the last time is gone.
  await new Promise(requestAnimationFrame);
  await until(() => find("session-open"));
  const start = performance.now();
  find("session-open").click();
  await until(() => shadowRoot.querySelectorAll("[data-role=user], [data-role=assistant]").length === expected);
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - start;
}
