// Whether the memory of workerd stays flat: as many requests as it takes, against the stand-in for Supabase. Environment:
// WORKER_URL, WORKER_PID, STAND_IN_URL, JWT_SECRET, QUESTIONS. The Worker's limit has to be out of the way.
import { setTimeout as sleep } from "node:timers/promises";
import { connections, outcomeOf, post } from "./lib/client.mjs";
import { watchMemory } from "./lib/memory.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { accessToken } from "./lib/tokens.mjs";

const CLIENTS = 8;
/** Few, so that what SQLite keeps in memory of each one's outcomes is full when the warm-up is over. */
const USERS = 10;
const WARM_UP = 5000;
const MEASURED_MS = 60_000;

const url = `${setting("WORKER_URL")}/api/chat`;
const signer = { issuer: `${setting("STAND_IN_URL")}/auth/v1`, secret: setting("JWT_SECRET") };
const questions = loadQuestions();
const tokens = Array.from({ length: USERS }, () => accessToken(crypto.randomUUID(), signer));

const agent = connections(CLIENTS);
let sent = 0;
await Promise.all(Array.from({ length: CLIENTS }, () => askWhile(() => sent < WARM_UP)));
const stopWatching = watchMemory(Number(setting("WORKER_PID")));
const before = sent;
let isOver = false;
const asking = Promise.all(Array.from({ length: CLIENTS }, () => askWhile(() => !isOver)));
await Promise.race([sleep(MEASURED_MS), asking]);
isOver = true;
await asking;
const { first, last, samples } = stopWatching();
agent.destroy();

console.log(
  JSON.stringify({
    figures: [
      ["memory_growth_mib", last - first],
      ["memory_first_quarter_mib", first],
      ["memory_last_quarter_mib", last],
    ],
    context: { memory_requests: sent - before, memory_mib_by_second: samples },
  }),
);

async function askWhile(goesOn) {
  while (goesOn()) {
    const number = sent++;
    const body = chatBody(questions[number % questions.length]);
    outcomeOf(await post(url, { agent, token: tokens[number % USERS], body }));
  }
}
