// The time of the insights functions in the database, called as an administrator, and what counting costs a turn.
import { become, user } from "../../supabase/tests/support/roles.mjs";
import { newTurn, RECORD_TURN } from "../../supabase/tests/support/turn.mjs";
import { percentiles } from "./percentiles.mjs";

const WARM_UP = 3;
const WARM_UP_TURNS = 20;
const FUNCTIONS = [
  "chat_insights",
  "chat_insights_days",
  "chat_insights_gaps",
  "chat_insights_comments",
  "chat_insights_documents",
  "chat_insights_uncited",
  "chat_insights_health",
];

/**
 * @param {import("../../local/supabase/migrations.mjs").Database} session
 * @param {{ administrator: string, windows: number[], assistants: (string | null)[], runs: number }} options
 */
export async function timeFunctions(session, { administrator, windows, assistants, runs }) {
  const results = [];
  for (const name of FUNCTIONS) {
    for (const days of windows) {
      for (const assistant of assistants) {
        const once = () =>
          session.transaction(async (transaction) => {
            await become(transaction, user(administrator));
            const started = performance.now();
            const { rows } = await transaction.query(`select * from ${name}($1, $2)`, [days, assistant]);
            return { ms: performance.now() - started, count: rows.length };
          });
        for (let run = 0; run < WARM_UP; run++) await once();
        const times = [];
        for (let run = 0; run < runs; run++) times.push(await once());
        // With few messages, a week may have no gap.
        if (days === Math.max(...windows) && times.some(({ count }) => count === 0)) {
          throw new Error(`${name} returned no rows`);
        }
        results.push({ function: name, days, assistant, ms: percentiles(times.map(({ ms }) => ms)) });
      }
    }
  }
  return results;
}

/**
 * What counting costs a turn: chat_record_turn with and without the trigger.
 * @param {import("../../local/supabase/migrations.mjs").Database} session of the owner of the tables
 * @param {{ administrator: string, workerSecret: string, turns: number }} options
 */
export async function timeTurns(session, { administrator, workerSecret, turns }) {
  const { rows } = await session.query("select id from kb_documents limit 3");
  const sources = rows.map(({ id }) => id);
  const headers = JSON.stringify({ "x-evidence-chat-worker": workerSecret });
  const once = () =>
    session.transaction(async (transaction) => {
      await become(transaction, user(administrator));
      await transaction.query("select set_config('request.headers', $1, true)", [headers]);
      const started = performance.now();
      await transaction.query(RECORD_TURN, [newTurn({ sources, latency_ms: 100 })]);
      return performance.now() - started;
    });
  const measured = {};
  for (const [name, state] of Object.entries({ counted_ms: "enable", uncounted_ms: "disable" })) {
    await session.exec(`alter table chat_messages ${state} trigger chat_messages_count`);
    for (let run = 0; run < WARM_UP_TURNS; run++) await once();
    const times = [];
    for (let run = 0; run < turns; run++) times.push(await once());
    measured[name] = percentiles(times);
  }
  await session.exec("alter table chat_messages enable trigger chat_messages_count");
  return measured;
}
