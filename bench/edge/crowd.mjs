// Many users at once against the stand-in for Supabase, each beyond the limit: whether everybody gets exactly what the limit allows, and
// whether each request has exactly one end. Environment: WORKER_URL, WORKER_PID, STAND_IN_URL, JWT_SECRET, QUESTIONS, USERS, LIMIT.
import { connections } from "./lib/client.mjs";
import { watchMemory } from "./lib/memory.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { percentiles, round } from "./lib/statistics.mjs";
import { accessToken } from "./lib/tokens.mjs";
import { send } from "./load/attempt.mjs";
import { earlyRefusals, excessAdmissions } from "./load/limit.mjs";

/** Questions of each user beyond the limit. */
const BEYOND = 2;
/** One question of each user is sent twice at the same time. */
const SENT_TWICE = 1;
const HISTORY = "/rest/v1/rpc/chat_record_turn";

const url = `${setting("WORKER_URL")}/api/chat`;
const standIn = setting("STAND_IN_URL");
const [count, limit] = [Number(setting("USERS")), Number(setting("LIMIT"))];
const signer = { issuer: `${standIn}/auth/v1`, secret: setting("JWT_SECRET") };
const questions = loadQuestions();

const users = Array.from({ length: count }, newUser);
const takeCalls = async () => (await fetch(`${standIn}/calls`)).json();
await takeCalls();
const stopWatching = watchMemory(Number(setting("WORKER_PID")));
const startAt = performance.now();
await Promise.all(users.map(run));
const elapsedS = (performance.now() - startAt) / 1000;
const memory = stopWatching();
const written = (await takeCalls()).filter(({ resource }) => resource === HISTORY);
for (const { agent } of users) agent.destroy();

const attempts = users.flatMap(({ asked }) => asked.flatMap((question) => question.attempts));
const answered = users.flatMap(({ asked }) => asked.filter(isAnswered));
// If the history did not answer in time, the user was told so.
const saved = answered.filter(({ attempts }) => attempts.some(({ outcome }) => outcome?.persisted));
const writtenIds = new Set(written.map(({ user, question }) => `${user} ${question}`));
const isWritten = ({ user, id }) => writtenIds.has(`${user} ${id}`);
console.log(
  JSON.stringify({
    figures: [
      ["crowd_without_one_end", attempts.filter(({ status, ends }) => status !== 429 && ends !== 1).length],
      [
        "crowd_users_with_other_than_limit",
        users.filter(({ asked }) => asked.filter(isAnswered).length !== limit).length,
      ],
      ["crowd_limit_violations", sum(users, ({ asked }) => excessAdmissions(asked, limit))],
      ["crowd_refused_too_early", sum(users, ({ asked }) => earlyRefusals(asked, limit))],
      ["crowd_lost", saved.filter((question) => !isWritten(question)).length],
      ["crowd_unasked", writtenIds.size - answered.filter(isWritten).length],
      ["crowd_repeats_different", users.filter(({ asked }) => hasDifferentTexts(asked[SENT_TWICE])).length],
      ["crowd_unsaved", answered.length - saved.length],
      ["crowd_memory_peak_mib", memory.peak],
      ["crowd_requests_per_second", round(attempts.length / elapsedS)],
      ...percentiles("crowd_last_byte", attempts.filter(({ lastByteAt }) => lastByteAt).map(lastByte), [50, 95, 100]),
    ],
    context: {
      crowd_users: count,
      crowd_limit: limit,
      crowd_requests: attempts.length,
      crowd_seconds: round(elapsedS),
      crowd_statuses: Object.entries(Object.groupBy(attempts, ({ status }) => status ?? "none"))
        .map(([status, list]) => `${status}: ${list?.length}`)
        .join(", "),
    },
  }),
);

function newUser() {
  const id = crypto.randomUUID();
  /** @type {(import("./load/attempt.mjs").Asked & { user: string })[]} */
  const asked = [];
  return { id, token: accessToken(id, signer), agent: connections(2), asked };
}

async function run({ id, token, agent, asked }, index) {
  while (asked.length < limit + BEYOND) {
    const number = asked.length;
    const body = chatBody(questions[(index + number) % questions.length]);
    const question = { user: id, id: body.message_id, attempts: [] };
    asked.push(question);
    const attempt = () => send(question, { url, agent, token, body });
    await Promise.all(number === SENT_TWICE ? [attempt(), attempt()] : [attempt()]);
  }
}

function isAnswered({ attempts }) {
  return attempts.some(({ outcome }) => outcome);
}

function hasDifferentTexts({ attempts }) {
  return new Set(attempts.map(({ text }) => text)).size > 1;
}

function lastByte({ lastByteAt = NaN, sentAt }) {
  return lastByteAt - sentAt;
}

function sum(list, value) {
  return list.reduce((total, item) => total + value(item), 0);
}
