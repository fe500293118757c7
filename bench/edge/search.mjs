// Time from sending a search to its whole response while a question is typed, on the local Supabase, and whether a user's questions still
// have their whole limit. One connection, sequential requests. Environment: WORKER_URL, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, QUESTIONS.
import { connections, post, readOutcome } from "./lib/client.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { percentiles } from "./lib/statistics.mjs";
import { signUp } from "./lib/supabase.mjs";

const WARM_UP = 40;
const REQUESTS = 400;
/** So many that nobody reaches the limit of requests. */
const USERS = 4;

const worker = setting("WORKER_URL");
const questions = loadQuestions();
const users = [];
while (users.length < USERS) users.push(await signUp());

const agent = connections(1);
const times = [];
let results = 0;
for (let index = 0; index < WARM_UP + REQUESTS; index++) {
  const { token } = users[index % USERS];
  const { text, vector, model } = questions[index % questions.length];
  const body = { query: text, embedding: vector, model, limit: 4 };
  const reply = await post(`${worker}/api/search`, { agent, token, body });
  if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.text}`);
  if (index < WARM_UP) continue;
  results += JSON.parse(reply.text).results.length;
  times.push(reply.endAt - reply.sentAt);
}
const asked = await post(`${worker}/api/chat`, { agent, token: users[0].token, body: chatBody(questions[0]) });
readOutcome(asked);
const limits = ["ratelimit-limit", "ratelimit-remaining"].map((name) => Number(asked.headers[name]));
agent.destroy();

console.log(
  JSON.stringify({
    figures: [
      ...percentiles("search", times, [50, 95, 99]),
      ["search_results_mean", results / REQUESTS],
      // The question itself takes one place.
      ["search_question_places_taken", limits[0] - limits[1] - 1],
    ],
    context: { search_requests: REQUESTS, search_users: USERS },
  }),
);
