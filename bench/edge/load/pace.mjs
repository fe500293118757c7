// How often each user asks, so that the database keeps up.
import { connections, post, sessionOf } from "../lib/client.mjs";
import { chatBody } from "../lib/questions.mjs";
import { signUp } from "../lib/supabase.mjs";

const WARM_UP = 10;
const SAMPLES = 40;
/** Share of what one client that asks without a pause gets done. */
const UTILISATION = 0.7;
/** Questions that every user asks at least in a window. */
const STEADY_QUESTIONS = 2;
/** Length of the limit's window. */
const WINDOW_S = 60;
/** Part of a window in which an eager user asks as much as the limit allows; in the rest of it, more is refused. */
const FILLING = 0.7;

/**
 * PGlite is one session on one core, so the database sets the pace: beyond it, questions would only wait in line until
 * they time out. What is left when each user has asked a few questions goes to eager users, who go beyond the limit.
 * @param {{ users: number, seconds: number, limit: number, perSecond: number }} options perSecond: see `sequentialRate`
 * @returns {{ eager: number, scheduleOf: (index: number) => { offsetMs: number, intervalMs: number } }}
 */
export function choosePace({ users, seconds, limit, perSecond }) {
  const windowS = Math.min(seconds, WINDOW_S);
  const perWindow = perSecond * UTILISATION * windowS;
  const steady = Math.min(STEADY_QUESTIONS, limit);
  const spare = Math.max(0, perWindow - users * steady);
  const eager = Math.min(users, Math.floor(spare / Math.max(1, limit - steady)));
  const spread = (place, count, intervalMs) => ({ offsetMs: (place / count) * intervalMs, intervalMs });
  return {
    eager,
    scheduleOf: (index) =>
      index < eager
        ? spread(index, eager, (windowS * 1000 * FILLING) / limit)
        : spread(index - eager, users - eager, (windowS * 1000) / steady),
  };
}

/**
 * Questions that one client gets answered in a second, one after the other.
 * @param {{ url: string, questions: import("../lib/questions.mjs").Question[], limit: number }} options
 */
export async function sequentialRate({ url, questions, limit }) {
  const scouts = [];
  while (scouts.length < Math.ceil((WARM_UP + SAMPLES) / limit)) scouts.push(await signUp());
  const agent = connections(1);
  let startedAt;
  for (let index = 0; index < WARM_UP + SAMPLES; index++) {
    if (index === WARM_UP) startedAt = performance.now();
    const scout = scouts[index % scouts.length];
    // In a session, the Worker looks whose it is; undefined is left out of the body.
    const body = chatBody(questions[index % questions.length], { session_id: scout.session });
    scout.session = sessionOf(await post(url, { agent, token: scout.token, body }));
  }
  agent.destroy();
  return SAMPLES / ((performance.now() - startedAt) / 1000);
}
