// Builds the examples with the packed packages and their frameworks from the registry, opens each in Chromium, asks a question and
// prints a table:
//   node tests/examples/run.mjs [--only TEXT]… [--folder FOLDER]
// --only takes the rows whose name contains the text. --folder is where the projects are made; default: a temporary folder. Needs
// the built packages (`cargo xtask build web`), CHROMIUM_PATH, a registry, and about 1 GB for the largest project.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openBrowser } from "../lib/browser.mjs";
import { answerQuestions } from "../lib/chat-stand-in.mjs";
import { pack, Project } from "./project.mjs";
import { ROWS } from "./rows.mjs";
import { RUNTIMES, writeServer } from "./runtimes.mjs";
import { plugin, STARTERS } from "./starters.mjs";

const PACKAGES = ["embedder-wasm/npm", "web", "writer/npm"].map((path) =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url)),
);
const QUESTION = "How long does a refund take?";
/** For the model and the first answer, in milliseconds. */
const ANSWER_TIMEOUT = 60_000;

const { values } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [] }, folder: { type: "string" } },
});
const rows = ROWS.filter(({ name }) => values.only.length === 0 || values.only.some((text) => name.includes(text)));
const folder = await mkdtemp(join(values.folder ?? tmpdir(), "evidence-chat-examples-"));
const results = [];
try {
  const tarballs = await pack(PACKAGES, folder);
  for (const row of rows) {
    const result = await tryRow(row, tarballs);
    results.push(result);
    console.log(describe(result));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const failed = results.filter(({ problem }) => problem);
console.log(`\n${table(results)}\n\n${results.length - failed.length} of ${results.length} work`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** @typedef {{ name: string, seconds: Record<string, number>, problem?: string }} Result */

/** Installs, builds and opens one example; with `seconds` for each step, and `problem` if a step failed. */
async function tryRow(row, tarballs) {
  /** @type {Result["seconds"]} */
  const seconds = {};
  const timed = async (step, action) => {
    const start = performance.now();
    try {
      return await action();
    } finally {
      seconds[step] = (performance.now() - start) / 1000;
    }
  };
  const project = new Project(join(folder, "project"));
  try {
    await mkdir(project.folder);
    if (row.runtime) {
      const { versions, command } = RUNTIMES[row.runtime];
      await writeServer(project, versions);
      await project.depend(tarballs);
      await timed("install", () => project.install());
      await timed("answer", () => project.run(command[0], command.slice(1)));
      return { name: row.name, seconds };
    }
    if (row.starter) {
      await timed("create", () => STARTERS[row.starter](project));
      await project.depend({ ...tarballs, ...(await pack([plugin(row.starter)], folder)) });
    } else await project.copy(row.example, tarballs, row.versions);
    await timed("install", () => project.install());
    if (!row.dev) await timed("build", () => project.build());
    await timed("answer", () => askIn(project, row));
    return { name: row.name, seconds };
  } catch (error) {
    return { name: row.name, seconds, problem: /** @type {Error} */ (error).message };
  } finally {
    await rm(project.folder, { recursive: true, force: true });
  }
}

/** Opens the project's page as a visitor and asks. Throws unless the answer and its sources are there, without an error. */
async function askIn(project, { serve, start, dev, starter }) {
  const command = start ?? dev;
  const server = await (command ? project.serveCommand(command) : project.serveFolder(serve));
  const browser = await openBrowser();
  try {
    const { page } = browser;
    const messages = [];
    page.on("console", (message) => {
      if (message.type() === "error" || /hydrat/i.test(message.text())) messages.push(message.text());
    });
    const asked = await answerQuestions(page);
    await page.addInitScript(() => sessionStorage.setItem("access-token", "token"));
    await page.goto(server.origin);
    await page.waitForFunction(() => customElements.get("evidence-chat"), undefined, { timeout: ANSWER_TIMEOUT });
    // A dev server may reload the page when it has found its dependencies.
    if (dev) await page.waitForTimeout(3000);
    const chat = page.locator("evidence-chat");
    if (starter) await tryPlugin(page);
    await chat.locator("[data-role=input]").fill(QUESTION, { timeout: ANSWER_TIMEOUT });
    await page.keyboard.press("Enter");
    const source = chat.locator("[data-role=source]").first();
    await source.waitFor({ timeout: ANSWER_TIMEOUT }).catch(async () => {
      throw new Error(`No answer. The chat shows: ${await chat.innerText()}\n${messages.join("\n")}`);
    });
    const [first] = asked;
    const token = await first?.headerValue("authorization");
    if (asked.length !== 1 || token !== "Bearer token") throw new Error(`${asked.length} questions with ${token}`);
    if (first?.postDataJSON().embedding.length !== 384) throw new Error("The question has no embedding");
    const heading = await chat.locator("[part~=heading]").innerText();
    if (heading !== "Ask our handbook") throw new Error(`The heading is ${heading}`);
    // The stand-in has no other routes, which the browser reports.
    const errors = [...page.errors, ...messages.filter((text) => !/status of 404/.test(text))];
    if (errors.length > 0) throw new Error(errors.join("\n"));
  } finally {
    await browser.close();
    await server.close();
  }
}

/** The button of a plugin opens the chat, its shortcut closes it, and the chat has the page's colours. Leaves it open. */
async function tryPlugin(page) {
  const button = page.locator(".evidence-chat-open:visible").first();
  const input = page.locator("evidence-chat [data-role=input]");
  const key = (await button.locator("kbd").innerText()).replace("Ctrl ", "").toLowerCase();
  await button.click();
  await input.waitFor();
  await page.keyboard.press(`Control+${key}`);
  await input.waitFor({ state: "hidden" });
  const isDark = () =>
    page.evaluate(() => {
      const { colorScheme } = getComputedStyle(document.documentElement);
      const { dataset, classList } = document.documentElement;
      return dataset.theme === "dark" || classList.contains("dark") || (!dataset.theme && colorScheme === "dark");
    });
  const theme = await page.locator("evidence-chat").getAttribute("theme");
  if (theme !== ((await isDark()) ? "dark" : "light")) throw new Error(`The chat is ${theme}, unlike the page`);
  const accents = await page.evaluate(() => {
    const chat = document.querySelector("evidence-chat");
    return ["--evidence-chat-accent", "--evidence-chat-font"].map(
      (name) => chat && getComputedStyle(chat).getPropertyValue(name),
    );
  });
  if (accents.some((value) => !value)) throw new Error(`The chat has not the page's colours: ${accents.join()}`);
  await button.click();
  await input.waitFor();
}

/** @param {Result} result */
function describe({ name, seconds, problem }) {
  const steps = Object.entries(seconds).map(([step, value]) => `${step} ${value.toFixed(1)} s`);
  return `${problem ? "FAILED" : "ok"}  ${name}: ${steps.join(", ")}${problem ? `\n${problem}\n` : ""}`;
}

function table(results) {
  const cell = (value) => (value === undefined ? "" : value.toFixed(1));
  const lines = results.map(
    ({ name, seconds, problem }) =>
      `| ${name} | ${cell(seconds.install)} | ${cell(seconds.build)} | ${cell(seconds.answer)} | ${problem ? "failed" : "ok"} |`,
  );
  return ["| project | install (s) | build (s) | page to answer (s) | |", "|---|---|---|---|---|", ...lines].join("\n");
}
