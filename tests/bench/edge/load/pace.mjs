// How often each user asks, so that the database keeps up.
import { connections, post, sessionOf } from "../lib/client.mjs";
import { chatBody } from "../lib/questions.mjs";

const WARM_UP = 10;
const SAMPLES = 40;
/** Share of what one client that asks without a pause gets done. */
const UTILISATION = 0.7;
/** Questions that every user asks at least. */
const STEADY_QUESTIONS = 3;
/** Part of the run in which an eager user asks as much as the limit allows; the rest of it is refused. */
const FILLING = 0.7;

/**
 * PGlite is one session on one core, so the database sets the pace: beyond it, questions would only wait in line until
 * they time out. What is left when each user has asked a few questions goes to eager users, who go beyond the limit.
 * @param {{ url: string, tokens: string[], questions: import("../lib/questions.mjs").Question[], users: number, seconds: number,
 *   limit: number }} options
 */
export async function choosePace({ url, tokens, questions, users, seconds, limit }) {
  const perSecond = await sequentialRate(url, tokens, questions);
  const total = perSecond * UTILISATION * seconds;
  const steady = Math.min(STEADY_QUESTIONS, limit);
  const spare = Math.max(0, total - users * steady);
  const eager = Math.min(users, Math.floor(spare / Math.max(1, limit - steady)));
  const seconds_ms = seconds * 1000;
  return {
    perSecond,
    eager,
    eagerIntervalMs: (seconds_ms * FILLING) / limit,
    steadyIntervalMs: seconds_ms / steady,
  };
}

/** Questions that one client gets answered in a second, one after the other. */
async function sequentialRate(url, tokens, questions) {
  const agent = connections(1);
  const sessions = new Map();
  let startedAt;
  for (let index = 0; index < WARM_UP + SAMPLES; index++) {
    if (index === WARM_UP) startedAt = performance.now();
    const token = tokens[index % tokens.length];
    // In a session, the Worker looks whose it is; undefined is left out of the body.
    const body = chatBody(questions[index % questions.length], { session_id: sessions.get(token) });
    sessions.set(token, sessionOf(await post(url, { agent, token, body })));
  }
  agent.destroy();
  return SAMPLES / ((performance.now() - startedAt) / 1000);
}
