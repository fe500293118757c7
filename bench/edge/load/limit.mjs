// Whether a user got exactly what the limit allows. The time of admission is only known to lie between sending the question
// and the start of its response, so a violation is what no such times can explain.

const WINDOW_MS = 60_000;
/** The Worker's clock counts whole milliseconds. */
const CLOCK_MS = 2;

/**
 * How often more questions were answered than a window allows.
 * @param {import("./user.mjs").Asked[]} asked
 * @param {number} limit
 */
export function tooMany(asked, limit) {
  const admissions = asked.map(admission).filter((interval) => interval !== undefined);
  const bySending = admissions.toSorted((a, b) => a.from - b.from);
  return bySending.filter(({ from }) => {
    const surelyWithin = bySending.filter((other) => other.from >= from && other.to < from + WINDOW_MS - CLOCK_MS);
    return surelyWithin.length > limit;
  }).length;
}

/**
 * How often a question was refused although the window was certainly not full.
 * @param {import("./user.mjs").Asked[]} asked
 * @param {number} limit
 */
export function refusedTooEarly(asked, limit) {
  const places = asked.flatMap(possiblePlaces);
  const refusals = asked.flatMap(({ attempts }) => attempts.filter(({ status }) => status === 429));
  return refusals.filter((refusal) => {
    const mayCount = ({ from, to }) => from <= refusal.endAt && to > refusal.sentAt - WINDOW_MS - CLOCK_MS;
    return places.filter(mayCount).length < limit;
  }).length;
}

/** The interval in which an answered question was admitted. */
function admission({ attempts }) {
  const answered = attempts.filter(({ outcome }) => outcome);
  if (answered.length === 0) return undefined;
  return { from: attempts[0].sentAt, to: Math.min(...answered.map(({ endAt }) => endAt)) };
}

/** The intervals in which a question may have counted in the window: those of answered attempts and of unknown ones. */
function possiblePlaces(asked) {
  const unknown = asked.attempts.filter(({ status }) => status === undefined);
  const admitted = admission(asked);
  return [
    ...unknown.map(({ sentAt, endAt }) => ({ from: sentAt, to: endAt + CLOCK_MS })),
    ...(admitted ? [admitted] : []),
  ];
}
