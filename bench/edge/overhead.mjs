// The time that the Worker adds to its calls to Supabase: the client's time minus the time that the stand-in was busy. One
// connection, sequential requests. With another build of the Worker, the two answer in turns, so that both are measured in the same
// conditions. Environment: WORKER_URL, BASELINE_URL (of the other build, or empty), STAND_IN_URL, JWT_SECRET, QUESTIONS.
import { connections, post, readOutcome } from "./lib/client.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { median, percentiles, round } from "./lib/statistics.mjs";
import { accessToken } from "./lib/tokens.mjs";

const WARM_UP = 100;
const REQUESTS = 600;
/** Below the limit of 20 a minute. */
const REQUESTS_PER_USER = 15;
const USERS = Math.ceil((WARM_UP + REQUESTS) / REQUESTS_PER_USER);
const SEARCH = "/rest/v1/rpc/match_chunks";
const HISTORY = "/rest/v1/rpc/chat_record_turn";

const standIn = setting("STAND_IN_URL");
const signer = { issuer: `${standIn}/auth/v1`, secret: setting("JWT_SECRET") };
// Only answered questions: a refusal makes other calls to Supabase.
const questions = loadQuestions().filter(({ rows }) => rows[0]?.similarity > 0.5);
const users = Array.from({ length: USERS }, () => {
  const id = crypto.randomUUID();
  return { id, token: accessToken(id, signer) };
});

const agent = connections(1);
const worker = measured(setting("WORKER_URL"));
const baseline = process.env.BASELINE_URL ? measured(process.env.BASELINE_URL) : undefined;
for (let index = 0; index < WARM_UP + REQUESTS; index++) {
  for (const build of baseline ? [worker, baseline] : [worker]) await ask(build, index);
}

const direct = [];
for (let index = 0; index < WARM_UP + REQUESTS; index++) {
  const { id, token } = users[index % USERS];
  const { text, vector } = questions[index % questions.length];
  const body = { query_embedding: JSON.stringify(vector), query_text: text, match_count: 5, match_threshold: -1 };
  const reply = await post(standIn + SEARCH, { agent, token, body });
  const calls = await takeCalls(id);
  if (index >= WARM_UP) direct.push(reply.firstByteAt - reply.sentAt - calls[SEARCH]);
}
agent.destroy();

const bytes = questions.reduce((sum, { rows }) => sum + JSON.stringify(rows).length, 0) / questions.length;
console.log(
  JSON.stringify({
    figures: [
      ...percentiles("overhead", worker.first, [50, 95, 99]),
      ...percentiles("overhead_last_byte", worker.last),
      ...(baseline ? comparison(worker, baseline) : []),
      // The same without the Worker, which is what the client and the stand-in add.
      ...percentiles("overhead_direct_call", direct),
      ...percentiles("stand_in_search", worker.search),
    ],
    context: { overhead_requests: REQUESTS, overhead_users: USERS, stand_in_answer_bytes: round(bytes) },
  }),
);

function measured(url) {
  return { url: `${url}/api/chat`, search: [], first: [], last: [] };
}

async function ask({ url, search, first, last }, index) {
  const { id, token } = users[index % USERS];
  const reply = await post(url, { agent, token, body: chatBody(questions[index % questions.length]) });
  if (readOutcome(reply).persisted !== true) throw new Error("the history was not written");
  const calls = await takeCalls(id);
  if (index < WARM_UP) return;
  search.push(calls[SEARCH]);
  first.push(reply.firstByteAt - reply.sentAt - calls[SEARCH]);
  last.push(reply.endAt - reply.sentAt - calls[SEARCH] - calls[HISTORY]);
}

function comparison(worker, baseline) {
  const ratio = (name) => round(median(worker[name]) / median(baseline[name]));
  return [
    ...percentiles("overhead_of_baseline", baseline.first),
    ...percentiles("overhead_of_baseline_last_byte", baseline.last),
    ["overhead_to_baseline_ratio", ratio("first")],
    ["overhead_to_baseline_last_byte_ratio", ratio("last")],
  ];
}

/** How long the stand-in was busy with a user's requests since the last call of this function, by resource. */
async function takeCalls(user) {
  const calls = await (await fetch(`${standIn}/calls`)).json();
  return Object.fromEntries(calls.filter((call) => call.user === user).map(({ resource, ms }) => [resource, ms]));
}
