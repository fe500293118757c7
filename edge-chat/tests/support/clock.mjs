// A Worker with a clock that tests control.
import { fileURLToPath } from "node:url";
import { ask, question } from "./client.mjs";
import { accessToken } from "./tokens.mjs";
import { startTestWorker } from "./worker.mjs";

const ENTRY = fileURLToPath(new URL("./clock-worker.mjs", import.meta.url));

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The initial time. */
export const START = Date.UTC(2030, 0, 1);

/** Starts the Worker with a stopped clock. Only the time of day is fake; timers run as usual. */
export async function startClockWorker(upstream, variables) {
  const worker = await startTestWorker(upstream, variables, { entry: ENTRY });
  const gate = async (user, command, body) => {
    const headers = { "x-test-gate-of": user, "x-test-gate": command };
    return (await fetch(worker.url, { method: "POST", headers, body })).json();
  };
  const setClock = (command, ms) => fetch(worker.url, { headers: { [`x-test-${command}-clock`]: String(ms) } });
  const setTime = (ms) => setClock("stop", ms);
  await setTime(START);
  return {
    ...worker,
    setTime,
    /** Sets the time and lets the clock run from there. */
    runFrom: (ms) => setClock("run", ms),
    /** The content of a user's Durable Object, and how many requests and SQL statements it has had. */
    gateOf: (user) => gate(user, "look"),
    /** Sends a command to a Durable Object, as the Worker does, and returns the answer. */
    commandGateOf: async (user, command) => {
      const headers = { "x-test-gate-of": user };
      return (await fetch(worker.url, { method: "POST", headers, body: JSON.stringify(command) })).json();
    },
    /** Runs the alarm of a user's Durable Object and returns its content. */
    ringAlarmOf: (user) => gate(user, "alarm"),
    /** Runs SQL in a user's Durable Object and returns its content. */
    changeGateOf: (user, sql) => gate(user, "sql", sql),
    /** Asks with a token that is valid throughout the tests. */
    ask: (user, body = question(), options = {}) => ask(worker.url, user, body, { token: tokenOf(user), ...options }),
  };
}

/** A token that is valid for days after `START`. */
export const tokenOf = (user, claims = {}) =>
  accessToken(user, { claims: { iat: START / SECOND - 60, exp: (START + 7 * DAY) / SECOND, ...claims } });
