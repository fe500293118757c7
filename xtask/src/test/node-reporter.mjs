// A reporter of node:test for `cargo xtask test`: a line of JSON for each test that has ended, and for each suite that
// was skipped, whose tests do not run. `seconds` is the time of a test that is in no suite and no other test, otherwise 0.

/** The test file. That of an event is where `test` was called, which may be a helper. */
const file = process.env.TEST_FILE;

/** The lines of an error that are kept: a comparison says only after its first line what differed. */
const MAX_LINES = 20;

export default async function* (events) {
  /** What a file reported outside its tests, such as an exception after the last one: the only trace of why it failed. */
  const diagnostics = new Map();
  for await (const { type, data } of events) {
    if (type === "test:diagnostic") {
      if (data.message.startsWith("Error: ")) diagnostics.set(data.file, data.message);
      continue;
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, skip, todo, details, nesting } = data;
    const seconds = nesting === 0 ? (details?.duration_ms ?? 0) / 1000 : 0;
    const isSkipped = skip !== undefined;
    if (details?.type === "suite" && !isSkipped) {
      yield `${JSON.stringify({ file, seconds, isSuite: true })}\n`;
      continue;
    }
    // `skip: true` gives no reason.
    const reason = typeof skip === "string" ? skip : "";
    const result = {
      name,
      file,
      isPassed: type === "test:pass",
      isSkipped,
      reason,
      isTodo: todo !== undefined,
      seconds,
    };
    yield `${JSON.stringify({ ...result, error: messageOf(details?.error, diagnostics.get(data.file)) })}\n`;
  }
}

/** What went wrong in a test, at most `MAX_LINES` of it; `diagnostic` if only its file failed. */
function messageOf(error, diagnostic) {
  if (error === undefined) return undefined;
  const { exitCode, signal, cause } = error;
  if (exitCode !== undefined) return diagnostic ?? (signal ? `ended by ${signal}` : `exit status ${exitCode}`);
  const lines = String(cause?.message ?? cause ?? error.message)
    .trimEnd()
    .split("\n");
  return lines.slice(0, MAX_LINES).join("\n");
}
