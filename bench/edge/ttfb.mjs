// Time from sending a question to the first byte of its event stream, on the local Supabase. One connection, sequential
// requests. Environment: WORKER_URL, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, QUESTIONS.
import { connections, post, readOutcome } from "./lib/client.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { percentiles } from "./lib/statistics.mjs";
import { signUp } from "./lib/supabase.mjs";

const WARM_UP = 40;
const REQUESTS = 300;
const USERS = 20;

const url = `${setting("WORKER_URL")}/api/chat`;
const questions = loadQuestions();
const users = [];
while (users.length < USERS) users.push(await signUp());

const agent = connections(1);
const first = [];
const last = [];
let refused = 0;
for (let index = 0; index < WARM_UP + REQUESTS; index++) {
  const { token } = users[index % USERS];
  const reply = await post(url, { agent, token, body: chatBody(questions[index % questions.length]) });
  const outcome = readOutcome(reply);
  if (outcome.persisted !== true) throw new Error("the history was not written");
  if (index < WARM_UP) continue;
  refused += outcome.type === "refusal" ? 1 : 0;
  first.push(reply.firstByteAt - reply.sentAt);
  last.push(reply.endAt - reply.sentAt);
}
agent.destroy();

console.log(
  JSON.stringify({
    figures: [...percentiles("ttfb", first, [50, 95, 99]), ...percentiles("last_byte", last)],
    context: { ttfb_requests: REQUESTS, ttfb_users: USERS, ttfb_refused: refused },
  }),
);
