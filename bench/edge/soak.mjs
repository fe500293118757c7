// Users ask for a long time, while the database, the connections and the Worker fail at random; then counts in the database. The same
// seed draws the same faults, but which request meets one depends on the times. Environment: SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY,
// SUPABASE_SECRET_KEY, QUESTIONS, MINUTES, SEED, USERS, LIMIT, and the variables of the Worker.
import { setTimeout as sleep } from "node:timers/promises";
import { connections } from "./lib/client.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { median } from "./lib/statistics.mjs";
import { allRows, signUp } from "./lib/supabase.mjs";
import { send } from "./load/attempt.mjs";
import { startProxy } from "./soak/faulty-proxy.mjs";
import { comparable, judge } from "./soak/judge.mjs";
import { createRandom } from "../../tests/lib/random.mjs";
import { SoakUser } from "./soak/user.mjs";
import { startWorkerProcess } from "./soak/worker-process.mjs";

/** Time between two restarts. */
const [MIN_RESTART_S, MAX_RESTART_S] = [40, 120];
/** Restarts happen in the first part of the time, so that memory can be read in the rest. */
const RESTARTED_SHARE = 0.6;
const [MIN_OUTAGE_S, MAX_OUTAGE_S] = [1, 6];
const [MIN_TO_OUTAGE_S, MAX_TO_OUTAGE_S] = [30, 120];
/** Time without faults at the end, in which every question gets its outcome. */
const SETTLING_MS = 90_000;
/** Time for work that continues after the last responses. */
const REST_MS = 2000;
/** Questions of each user that are sent once more at the end. */
const REPEATED = 10;
const MEMORY_INTERVAL_MS = 2000;
/** Below the limit of a minute. */
const REFERENCES_PER_USER = 15;
const MAX_REFERENCE_TRIES = 10;
const UPSTREAM_TIMEOUT_MS = 2000;

const [minutes, seed, count, limit] = ["MINUTES", "SEED", "USERS", "LIMIT"].map((name) => Number(setting(name)));
const questions = loadQuestions();
const random = createRandom(seed);
const supabase = setting("SUPABASE_URL");

const proxy = await startProxy({ target: supabase, random: random.fork() });
const worker = await startWorkerProcess({
  SUPABASE_URL: proxy.url,
  SUPABASE_JWT_ISSUER: `${supabase}/auth/v1`,
  CHAT_RATE_LIMIT: String(limit),
  CHAT_UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS),
});
try {
  const url = `${worker.url}/api/chat`;
  const expected = await askForReference(url);
  const users = [];
  while (users.length < count) {
    users.push(new SoakUser({ url, questions, random: random.fork(), ...(await signUp()) }));
  }
  const report = await soak(users, expected);
  console.log(JSON.stringify(report));
} finally {
  await worker.close();
  proxy.close();
}

async function soak(users, expected) {
  const startAt = performance.now();
  const endAt = startAt + minutes * 60_000;
  const memory = sampleMemory();
  proxy.setFaulty(true);
  await Promise.all([...users.map((user) => user.run(endAt)), restartAtRandom(startAt), haveOutages(endAt)]);
  proxy.setFaulty(false);
  const { figures: memoryFigures, context: memoryContext } = memory.stop();
  await Promise.all(users.map((user) => user.settle(performance.now() + SETTLING_MS)));
  await Promise.all(users.map((user) => user.repeatLast(REPEATED)));
  await sleep(REST_MS);
  const database = {
    sessions: await allRows("chat_sessions", ["id", "user_id"], "id"),
    messages: await allRows("chat_messages", ["id", "session_id", "role", "content"], "session_id,id"),
  };
  for (const user of users) user.close();
  const { figures, context } = judge({ users, expected, restarts: worker.restarts, limit, database });
  const { none, ...faults } = proxy.faults;
  return {
    figures: [
      ...figures,
      ["soak_faults", Object.values(faults).reduce((sum, number) => sum + number, 0)],
      ["soak_restarts", worker.restarts.length],
      ...memoryFigures,
    ],
    context: {
      soak_minutes: minutes,
      soak_seed: seed,
      soak_users: count,
      soak_limit: limit,
      soak_calls_without_fault: none,
      soak_faults_by_kind: faults,
      soak_restarts_by_kind: worker.restarts.map(({ end }) => end).join(", "),
      ...context,
      ...memoryContext,
    },
  };
}

/** What each question is answered with, without faults and by users of their own. */
async function askForReference(url) {
  const expected = new Map();
  const agent = connections(1);
  /** @type {any} */
  let asker;
  for (const [index, question] of questions.entries()) {
    if (index % REFERENCES_PER_USER === 0) asker = await signUp();
    const body = chatBody(question);
    const asked = { id: body.message_id, attempts: [] };
    let attempt;
    // On a busy machine, a call may take longer than the short timeout of a soak.
    do attempt = await send(asked, { url, agent, token: asker.token, body });
    while (!attempt.outcome && asked.attempts.length < MAX_REFERENCE_TRIES);
    if (!attempt.outcome) throw new Error(`no outcome without faults: ${attempt.status} ${attempt.error}`);
    expected.set(question.text, comparable(attempt.text));
  }
  agent.destroy();
  return expected;
}

async function restartAtRandom(startAt) {
  const draws = random.fork();
  const lastAt = startAt + minutes * 60_000 * RESTARTED_SHARE;
  for (;;) {
    const pause = draws.between(MIN_RESTART_S, MAX_RESTART_S) * 1000;
    if (performance.now() + pause > lastAt) return;
    await sleep(pause);
    await worker.restart(draws.pick({ crash: 1, stop: 1 }) === "crash" ? "crash" : "stop");
  }
}

async function haveOutages(endAt) {
  const draws = random.fork();
  for (;;) {
    const pause = draws.between(MIN_TO_OUTAGE_S, MAX_TO_OUTAGE_S) * 1000;
    if (performance.now() + pause > endAt) return;
    await sleep(pause);
    proxy.beDown(draws.between(MIN_OUTAGE_S, MAX_OUTAGE_S) * 1000);
  }
}

/** Resident memory of workerd. A restart frees all of it, so growth is measured since the last restart. */
function sampleMemory() {
  let samples = [];
  let life = -1;
  let peak = 0;
  const bySecond = [];
  const startAt = performance.now();
  const timer = setInterval(() => {
    const mib = worker.memoryMib();
    if (mib === undefined) return;
    if (life !== worker.restarts.length) [life, samples] = [worker.restarts.length, []];
    samples.push(mib);
    peak = Math.max(peak, mib);
    bySecond.push([Math.round((performance.now() - startAt) / 1000), life, Math.round(mib)]);
  }, MEMORY_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      const quarter = Math.ceil(samples.length / 4);
      const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)].map((part) =>
        Math.round(median(part)),
      );
      return {
        figures: [
          ["soak_memory_peak_mib", Math.round(peak)],
          ["soak_memory_first_quarter_mib", first],
          ["soak_memory_last_quarter_mib", last],
        ],
        context: { soak_memory_by_second_restarts_mib: bySecond },
      };
    },
  };
}
