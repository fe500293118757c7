// Checks that a user got exactly what the limit allows. A question is admitted at an unknown time between its sending and the
// start of its response, so only what no such times can explain counts as a violation.

const WINDOW_MS = 60_000;
/** The Worker's clock counts whole milliseconds. */
const CLOCK_MS = 2;

/**
 * The number of windows in which more questions were answered than the limit allows.
 * @param {import("./attempt.mjs").Asked[]} asked
 * @param {number} limit
 */
export function excessAdmissions(asked, limit) {
  const admissions = asked.map(admission).filter((interval) => interval !== undefined);
  const bySending = admissions.toSorted((a, b) => a.from - b.from);
  return bySending.filter(({ from }) => {
    const certainlyWithin = bySending.filter((other) => other.from >= from && other.to < from + WINDOW_MS - CLOCK_MS);
    return certainlyWithin.length > limit;
  }).length;
}

/**
 * The number of questions refused although the window was certainly not full.
 * @param {import("./attempt.mjs").Asked[]} asked
 * @param {number} limit
 */
export function earlyRefusals(asked, limit) {
  const admissions = asked.flatMap(possibleAdmissions);
  const refusals = asked.flatMap(({ attempts }) => attempts.filter(({ status }) => status === 429));
  return refusals.filter((refusal) => {
    const mayCount = ({ from, to }) => from <= refusal.endAt && to > refusal.sentAt - WINDOW_MS - CLOCK_MS;
    return admissions.filter(mayCount).length < limit;
  }).length;
}

/** The interval in which an answered question was admitted. */
function admission({ attempts }) {
  const answered = attempts.filter(({ outcome }) => outcome);
  if (answered.length === 0) return undefined;
  return { from: attempts[0].sentAt, to: Math.min(...answered.map(({ endAt }) => endAt)) };
}

/** The intervals in which a question may have counted in the window: those of answered attempts and of unknown ones. */
function possibleAdmissions(asked) {
  const unknown = asked.attempts.filter(({ status }) => status === undefined);
  const admitted = admission(asked);
  return [
    ...unknown.map(({ sentAt, endAt }) => ({ from: sentAt, to: endAt + CLOCK_MS })),
    ...(admitted ? [admitted] : []),
  ];
}
