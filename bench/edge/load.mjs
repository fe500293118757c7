// Many concurrent users on the local Supabase, each with an account, and the state of the database afterwards.
// Environment: WORKER_URL, WORKER_PID, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, SUPABASE_SECRET_KEY, QUESTIONS, USERS,
// SECONDS, LIMIT, ANSWER_MODE.
import { setTimeout as sleep } from "node:timers/promises";
import { connections } from "./lib/client.mjs";
import { loadQuestions } from "./lib/questions.mjs";
import { readAll } from "./lib/readings.mjs";
import { setting } from "./lib/settings.mjs";
import { round } from "./lib/statistics.mjs";
import { allRows, setAnswerMode, signUp } from "./lib/supabase.mjs";
import { compareHistory } from "./load/history.mjs";
import { watchMemory } from "./lib/memory.mjs";
import { choosePace, sequentialRate } from "./load/pace.mjs";
import { summarize } from "./load/summary.mjs";
import { User } from "./load/user.mjs";

/** Time for work that continues after the last responses. */
const SETTLING_MS = 2000;

const worker = setting("WORKER_URL");
const url = `${worker}/api/chat`;
const [count, seconds, limit] = ["USERS", "SECONDS", "LIMIT"].map((name) => Number(setting(name)));
const questions = loadQuestions();

// Before the first question, with which the Worker reads the settings.
await setAnswerMode(setting("ANSWER_MODE"));
const perSecond = await sequentialRate({ url, questions, limit });
const pace = choosePace({ users: count, seconds, limit, perSecond });
// Standard output has only the figures.
console.error(`  ${round(perSecond)} questions a second one by one: ${pace.eager} of ${count} users are eager`);
const reader = connections(1);
const readings = await readAll(questions, { worker, agent: reader, tokens: [(await signUp()).token] });
reader.destroy();
const users = [];
while (users.length < count) {
  users.push(new User({ url, index: users.length, questions, readings, ...(await signUp()) }));
}

const stopWatching = watchMemory(Number(setting("WORKER_PID")));
const startAt = performance.now();
const endAt = startAt + seconds * 1000;
await Promise.all(
  users.map((user, index) => {
    const { offsetMs, intervalMs } = pace.schedule(index);
    return user.run({ startAt: startAt + offsetMs, endAt, intervalMs });
  }),
);
const elapsedS = (performance.now() - startAt) / 1000;
const memory = stopWatching();
await sleep(SETTLING_MS);
const history = compareHistory(users, {
  sessions: await allRows("chat_sessions", ["id", "user_id"], "id"),
  messages: await allRows("chat_messages", ["id", "session_id", "role"], "session_id,id"),
});

const { figures, context } = summarize({ users, limit, elapsedS, memory, history });
console.log(
  JSON.stringify({
    figures,
    context: {
      load_users: count,
      load_users_eager: pace.eager,
      load_seconds: seconds,
      load_limit: limit,
      load_sequential_per_second: round(perSecond),
      ...context,
    },
  }),
);
