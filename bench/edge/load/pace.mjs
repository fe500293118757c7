// The schedule of each user's questions, chosen so that the database keeps up.
import { connections, post, readSession } from "../lib/client.mjs";
import { chatBody } from "../lib/questions.mjs";
import { signUp } from "../lib/supabase.mjs";

const WARM_UP = 10;
const SAMPLES = 40;
/** Share of the rate that one client reaches with sequential questions. */
const MAX_UTILISATION = 0.7;
/** The minimum number of questions of a user in a window. */
const MIN_QUESTIONS = 2;
/** Length of the limit's window. */
const WINDOW_S = 60;
/** Part of a window in which an eager user asks as much as the limit allows; the rest of the window's questions are refused. */
const BURST_SHARE = 0.7;

/**
 * PGlite is one session on one core, so the database limits the rate: beyond it, questions would only queue until they
 * time out. The rate that remains when each user asks a few questions goes to eager users, who exceed the limit.
 * @param {{ users: number, seconds: number, limit: number, perSecond: number }} options perSecond: see `sequentialRate`
 * @returns {{ eager: number, schedule: (index: number) => { offsetMs: number, intervalMs: number } }}
 */
export function choosePace({ users, seconds, limit, perSecond }) {
  const windowS = Math.min(seconds, WINDOW_S);
  const perWindow = perSecond * MAX_UTILISATION * windowS;
  const steady = Math.min(MIN_QUESTIONS, limit);
  const spare = Math.max(0, perWindow - users * steady);
  const eager = Math.min(users, Math.floor(spare / Math.max(1, limit - steady)));
  const spread = (place, count, intervalMs) => ({ offsetMs: (place / count) * intervalMs, intervalMs });
  return {
    eager,
    schedule: (index) =>
      index < eager
        ? spread(index, eager, (windowS * 1000 * BURST_SHARE) / limit)
        : spread(index - eager, users - eager, (windowS * 1000) / steady),
  };
}

/**
 * Sequential questions of one client that are answered per second.
 * @param {{ url: string, questions: import("../lib/questions.mjs").Question[], limit: number }} options
 */
export async function sequentialRate({ url, questions, limit }) {
  /** @type {{ id: string, token: string, session?: string }[]} */
  const users = [];
  while (users.length < Math.ceil((WARM_UP + SAMPLES) / limit)) users.push(await signUp());
  const agent = connections(1);
  let startedAt = 0;
  for (let index = 0; index < WARM_UP + SAMPLES; index++) {
    if (index === WARM_UP) startedAt = performance.now();
    const user = users[index % users.length];
    // With a session, the Worker also checks its owner. JSON.stringify omits undefined.
    const body = chatBody(questions[index % questions.length], { session_id: user.session });
    user.session = readSession(await post(url, { agent, token: user.token, body }));
  }
  agent.destroy();
  return SAMPLES / ((performance.now() - startedAt) / 1000);
}
