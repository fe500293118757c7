// A reporter of node:test for `cargo xtask test`: a line of JSON for each test that has ended, and for each suite that
// was skipped, whose tests do not run.
export default async function* (events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, file, skip, todo, details } = data;
    const isSkipped = skip !== undefined;
    if (details?.type === "suite" && !isSkipped) continue;
    // `skip: true` gives no reason.
    const reason = typeof skip === "string" ? skip : "";
    yield `${JSON.stringify({ name, file, isPassed: type === "test:pass", isSkipped, reason, isTodo: todo !== undefined })}\n`;
  }
}
