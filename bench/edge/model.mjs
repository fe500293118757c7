// The language model of a load with --write. A local service (see local/service.mjs): a scripted model that copies the first
// sentences of its first source, and has a fault every few answers. Environment: PORT.
import { runService } from "../../local/service.mjs";
import { startScriptedModel } from "../../tests/generation/support/scripted-model.mjs";

/** Faults never follow each other: after five in a row the Worker would stop asking. */
const CYCLE = [
  "ok",
  "ok",
  { scenario: "stall", after: 12 },
  "ok",
  "server-error",
  "ok",
  "ok",
  { scenario: "cut", after: 30 },
  "ok",
  "no-first-token",
  "ok",
  { scenario: "reset", after: 20 },
  "ok",
  "declined",
  "ok",
  "malformed-json",
];
/** Between two pieces of the output. */
const DELAY_MS = 5;
/** Characters of the source that are copied: a sentence or two. */
const COPIED_CHARACTERS = 200;

await runService({ serve });

async function serve(port, ready) {
  const model = await startScriptedModel("ok", port);
  let answered = 0;
  model.play((request) => {
    const step = CYCLE[answered++ % CYCLE.length];
    const text = `${copyOf(request.json.messages.at(-1).content)} [1] The founder lives on the moon. [2]`;
    return { delayMs: DELAY_MS, text, ...(typeof step === "string" ? { scenario: step } : step) };
  });
  await ready(new URL(model.url).origin);
  await model.close();
}

/** The beginning of the first source of a prompt. */
function copyOf(prompt) {
  const source = /<source-[^>]*>\n([^]*?)\n<\/source-/.exec(prompt)?.[1] ?? "";
  return source.slice(0, COPIED_CHARACTERS).replaceAll("\n", " ");
}
