// Whether a user got exactly what the limit allows. When a question was admitted is known only to lie between its sending
// and the beginning of its response, so a fault is what cannot be explained by any such times.

const WINDOW_MS = 60_000;
/** The Worker's clock counts whole milliseconds. */
const CLOCK_MS = 2;

/**
 * How often more questions were answered than a window holds.
 * @param {import("./user.mjs").Asked[]} asked
 * @param {number} limit
 */
export function tooMany(asked, limit) {
  const admissions = asked.map(admission).filter(Boolean);
  const bySending = admissions.toSorted((a, b) => a.from - b.from);
  return bySending.filter(({ from }) => {
    const surelyWithin = bySending.filter((other) => other.from >= from && other.to < from + WINDOW_MS - CLOCK_MS);
    return surelyWithin.length > limit;
  }).length;
}

/**
 * How often a question was refused although the window cannot have been full.
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

/** When the question was admitted that was answered. */
function admission({ attempts }) {
  const answered = attempts.filter(({ outcome }) => outcome);
  if (answered.length === 0) return undefined;
  return { from: attempts[0].sentAt, to: Math.min(...answered.map(({ endAt }) => endAt)) };
}

/** Times that a question may have taken a place in the window: when it was answered, and whenever nobody knows. */
function possiblePlaces(asked) {
  const unknown = asked.attempts.filter(({ status }) => status === undefined);
  const admitted = admission(asked);
  return [
    ...unknown.map(({ sentAt, endAt }) => ({ from: sentAt, to: endAt + CLOCK_MS })),
    ...(admitted ? [admitted] : []),
  ];
}
