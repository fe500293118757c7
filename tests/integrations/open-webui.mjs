// Tries the pipe, and a connection without it, with the code of Open WebUI itself: how it reads the file, and what it makes of what
// the pipe yields and emits and of the chunks of the API.
//
//     OPEN_WEBUI_PYTHON=… EVIDENCE_MODEL_DIR=… node tests/integrations/open-webui.mjs
//
// integrations/open-webui/README.md has the commands before it and the paths.
// Downloads Open WebUI without its dependencies (106 MB, pinned by hash) to `target/open-webui-wheel`. Not part of the test command,
// because of the size, and because only Open WebUI's functions for pipes run here; its database and sockets are replaced.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bodyOf, runPipe } from "./support/pipe.mjs";
import { QUESTION_FOR_BOTH, startStack } from "./support/stack.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WHEEL = path.join(ROOT, "target/open-webui-wheel");
const REQUIREMENT = path.join(ROOT, "integrations/open-webui/open-webui.txt");

/** The folder with the package. */
function download() {
  const folder = path.join(WHEEL, "unpacked");
  if (existsSync(folder)) return folder;
  const run = (...command) => execFileSync("python3", ["-m", ...command], { stdio: "inherit" });
  const options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--quiet", "--dest", WHEEL];
  run("pip", "download", ...options, "-r", REQUIREMENT);
  const [file] = readdirSync(WHEEL).filter((name) => name.endsWith(".whl"));
  run("zipfile", "-e", path.join(WHEEL, file), folder);
  return folder;
}

const openWebUi = download();
const stack = await startStack();
try {
  const { baseURL } = await stack.adapter();
  const ask = async (content, { stream = true, token = "", ...more } = /** @type {any} */ ({})) => {
    const valves = { url: baseURL, api_key: token || (await stack.user()).token };
    return runPipe({ open_webui: openWebUi, valves, body: bodyOf(content, { stream }), ...more });
  };
  const chunksOf = ({ all }) => {
    const lines = all("line").map((line) => line.trim());
    assert.equal(lines.pop(), "data: [DONE]");
    return lines.map((line) => JSON.parse(line.replace(/^data: /, "")));
  };
  const textOf = (chunks) => chunks.map(({ choices }) => choices?.[0].delta?.content ?? "").join("");

  const answer = await ask(QUESTION_FOR_BOTH);
  const [matter] = answer.all("front_matter");
  assert.equal(matter.title, "Evidence Chat");
  assert.match(matter.version, /^\d+\.\d+\.\d+$/);
  assert.equal(matter.requirements, undefined, "nothing is installed");
  const chunks = chunksOf(answer);
  assert.match(textOf(chunks), /Refunds are paid within 5 days\. \[\d\]/);
  const reasons = chunks.map(({ choices }) => choices[0].finish_reason ?? null);
  assert.deepEqual(reasons, [...Array(reasons.length - 1).fill(null), "stop"], "only the last chunk ends the message");
  assert.deepEqual(answer.sources.map(({ source }) => source.name).sort(), ["Refunds", "Shipping"]);
  assert.equal(answer.statuses.at(-1)[1], true);
  console.log("✔ an answer is streamed with its sources");

  const whole = await ask("When are refunds paid?", { stream: false });
  const [completion] = whole.all("completion");
  assert.match(completion.choices[0].message.content, /5 days\. \[1\]/);
  assert.equal(whole.sources.length, 1);
  console.log("✔ an answer in one piece has them too");

  const refused = await ask("Which planet has the most moons?");
  assert.match(textOf(chunksOf(refused)), /don't have enough information/);
  assert.deepEqual(refused.sources, []);
  console.log("✔ a refusal has no sources");

  const failed = chunksOf(await ask("When are refunds paid?", { token: "sk-1" }));
  assert.match(failed[0].error.detail, /sign in/i);
  console.log("✔ an error is one of the message");

  const title = await ask("### Task:\nGenerate a title.", { stream: false, task: "title_generation" });
  assert.equal(title.all("completion")[0].choices[0].message?.content ?? "", "");
  assert.deepEqual(title.all("event"), []);
  console.log("✔ a task gets an empty answer");

  const connected = await ask(QUESTION_FOR_BOTH, { connection: baseURL });
  const lines = connected.all("line").filter((line) => line.startsWith("data: {"));
  assert.equal(textOf(lines.map((line) => JSON.parse(line.slice("data: ".length)))), textOf(chunks), "the same answer");
  assert.deepEqual(
    connected.sources.map(({ source }) => source.name),
    answer.sources.map(({ source }) => source.name),
    "in the order of the numbers",
  );
  const urls = new Map(connected.sources.map(({ source }) => [source.name, source.url]));
  assert.equal(urls.get("Shipping"), "https://shop.test/shipping");
  assert.match(urls.get("Refunds") ?? "", /^urn:uuid:/);
  console.log("✔ a connection without the pipe has the sources too");
} finally {
  await stack.close();
}
