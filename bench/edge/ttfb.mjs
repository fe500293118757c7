// Time from sending a question to the first byte of its event stream, on the local Supabase, in turns without and with a reading.
// One connection, sequential requests. Environment: WORKER_URL, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, QUESTIONS.
import { connections, post, readOutcome } from "./lib/client.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { readAll } from "./lib/readings.mjs";
import { setting } from "./lib/settings.mjs";
import { percentiles } from "./lib/statistics.mjs";
import { signUp } from "./lib/supabase.mjs";

const WARM_UP = 40;
const REQUESTS = 600;
const USERS = 40;

const worker = setting("WORKER_URL");
const questions = loadQuestions();
const users = [];
while (users.length < USERS) users.push(await signUp());

const agent = connections(1);
const readings = await readAll(questions, { worker, agent, tokens: users.map(({ token }) => token) });
/** @type {Record<string, { first: number[], last: number[] }>} */
const kinds = { "": { first: [], last: [] }, _with_reading: { first: [], last: [] } };
let refused = 0;
for (let index = 0; index < WARM_UP + REQUESTS; index++) {
  const { token } = users[index % USERS];
  const asked = Math.floor(index / 2) % questions.length;
  const isRead = index % 2 === 1;
  const body = chatBody(questions[asked], isRead ? { reading: readings[asked] } : {});
  const reply = await post(`${worker}/api/chat`, { agent, token, body });
  const outcome = readOutcome(reply);
  if (outcome.persisted !== true) throw new Error("the history was not written");
  if (index < WARM_UP) continue;
  refused += outcome.type === "refusal" ? 1 : 0;
  const { first, last } = kinds[isRead ? "_with_reading" : ""];
  first.push(reply.firstByteAt - reply.sentAt);
  last.push(reply.endAt - reply.sentAt);
}
agent.destroy();

const figures = Object.entries(kinds).flatMap(([kind, { first, last }]) => [
  ...percentiles(`ttfb${kind}`, first, [50, 95, 99]),
  ...percentiles(`last_byte${kind}`, last),
]);
console.log(
  JSON.stringify({ figures, context: { ttfb_requests: REQUESTS, ttfb_users: USERS, ttfb_refused: refused } }),
);
