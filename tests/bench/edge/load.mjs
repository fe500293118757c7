// Many users at once on the local Supabase, each with an account of its own, and what the database holds afterwards.
// Environment: WORKER_URL, WORKER_PID, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, SUPABASE_SECRET_KEY, QUESTIONS, USERS,
// SECONDS, LIMIT.
import { setTimeout as sleep } from "node:timers/promises";
import { loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { percentiles, round } from "./lib/statistics.mjs";
import { allRows, signUp } from "./lib/supabase.mjs";
import { compareHistory } from "./load/history.mjs";
import { refusedTooEarly, tooMany } from "./load/limit.mjs";
import { watchMemory } from "./load/memory.mjs";
import { choosePace } from "./load/pace.mjs";
import { User } from "./load/user.mjs";

/** Accounts whose questions measure what the database can do. */
const SCOUTS = 5;
/** For what goes on behind the last responses. */
const SETTLING_MS = 2000;

const url = `${setting("WORKER_URL")}/api/chat`;
const [count, seconds, limit] = ["USERS", "SECONDS", "LIMIT"].map((name) => Number(setting(name)));
const questions = loadQuestions();

const scouts = [];
while (scouts.length < SCOUTS) scouts.push((await signUp()).token);
const pace = await choosePace({ url, tokens: scouts, questions, users: count, seconds, limit });
console.error(
  `  ${count} users, ${pace.eager} of them eager; the database answers ${round(pace.perSecond)} questions a second one by one`,
);
const users = [];
while (users.length < count) {
  users.push(new User({ url, index: users.length, questions, ...(await signUp()) }));
}

const stopWatching = watchMemory(Number(setting("WORKER_PID")));
const startAt = performance.now();
const endAt = startAt + seconds * 1000;
await Promise.all(
  users.map((user, index) => {
    const intervalMs = index < pace.eager ? pace.eagerIntervalMs : pace.steadyIntervalMs;
    return user.live({ startAt: startAt + (index / count) * intervalMs, endAt, intervalMs });
  }),
);
const elapsed = (performance.now() - startAt) / 1000;
const memory = stopWatching();
await sleep(SETTLING_MS);
const history = compareHistory(users, {
  sessions: await allRows("chat_sessions", ["id", "user_id"], "id"),
  messages: await allRows("chat_messages", ["id", "session_id", "role"], "session_id,id"),
});

const asked = users.flatMap((user) => user.asked);
const attempts = asked.flatMap((question) => question.attempts);
const outcomes = attempts.filter(({ outcome }) => outcome);
const refusedUsers = users.filter((user) => user.asked.some(({ attempts }) => attempts.some(hasStatus(429))));
const answersOf = (user) => user.asked.filter(({ attempts }) => attempts.some(({ outcome }) => outcome)).length;
const answered = users.map(answersOf);
const statuses = Object.fromEntries(
  [...new Set(attempts.map(({ status }) => status ?? "none"))]
    .sort()
    .map((status) => [status, attempts.filter((attempt) => (attempt.status ?? "none") === status).length]),
);

console.log(
  JSON.stringify({
    figures: [
      ["errors_5xx", attempts.filter(({ status }) => status >= 500).length, "responses"],
      ["errors_stream", outcomes.filter(({ outcome }) => outcome.type === "error").length, "responses"],
      ["errors_other", attempts.filter(isUnexpected).length, "requests"],
      ["limit_violations", sumOver(users, (user) => tooMany(user.asked, limit)), "windows"],
      ["refused_too_early", sumOver(users, (user) => refusedTooEarly(user.asked, limit)), "requests"],
      ["lost_messages", history.lost, "messages"],
      ["doubled_messages", history.doubled, "messages"],
      ["unasked_messages", history.unasked, "messages"],
      ["unpersisted_answers", outcomes.filter(({ outcome }) => outcome.persisted === false).length, "responses"],
      ["repeats_different", sumOver(users, (user) => user.repeats.filter(isDifferent).length), "repeats"],
      ["memory_growth_mib", round(memory.last - memory.first), "MiB"],
      ["memory_first_quarter_mib", memory.first, "MiB"],
      ["memory_last_quarter_mib", memory.last, "MiB"],
      ["memory_peak_mib", memory.peak, "MiB"],
      ["load_requests_per_second", round(attempts.length / elapsed), "1/s"],
      ["load_answers_per_second", round(answered.reduce((a, b) => a + b, 0) / elapsed), "1/s"],
      ...percentiles(
        "load_first_byte",
        outcomes.map(({ sentAt, endAt }) => endAt - sentAt),
        [50, 95, 99, 100],
      ),
      ...percentiles(
        "load_last_byte",
        outcomes.map(({ sentAt, lastByteAt }) => lastByteAt - sentAt),
        [50, 95, 99, 100],
      ),
    ],
    context: {
      load_users: count,
      load_seconds: seconds,
      load_limit: limit,
      load_statuses: Object.entries(statuses)
        .map(([status, number]) => `${status}: ${number}`)
        .join(", "),
      load_questions_answered: answered.reduce((a, b) => a + b, 0),
      load_repeats: sumOver(users, (user) => user.repeats.length),
      load_connections_dropped: attempts.filter(({ dropped }) => dropped).length,
      load_users_refused: refusedUsers.length,
      load_answers_of_refused_users: spread(refusedUsers.map(answersOf)),
      load_answers_of_all_users: spread(answered),
      database_sequential_per_second: round(pace.perSecond),
    },
  }),
);

function hasStatus(wanted) {
  return ({ status }) => status === wanted;
}

/** Neither an answer nor a refusal by the limit, nor a connection that was dropped on purpose. */
function isUnexpected({ status, dropped }) {
  return status === undefined ? !dropped : status !== 200 && status !== 429 && status < 500;
}

function isDifferent([first, second]) {
  return first.status !== second.status || first.text !== second.text;
}

function sumOver(users, value) {
  return users.reduce((sum, user) => sum + value(user), 0);
}

function spread(numbers) {
  return numbers.length ? `${Math.min(...numbers)} to ${Math.max(...numbers)}` : "none";
}
