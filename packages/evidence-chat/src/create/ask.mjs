import { createInterface } from "node:readline";
import { UserError } from "../user-error.mjs";

/** @typedef {{ question(text: string): Promise<string>, close(): void }} Terminal */

/**
 * The answers by option: those of the command line, then what the user types.
 * @param {readonly import("./questions.mjs").Question[]} questions
 * @param {Record<string, any>} values of the command line; with `yes`, nothing is asked
 * @param {{ folder: string }} context
 * @param {() => Terminal | undefined} openTerminal undefined if nobody can be asked
 * @returns {Promise<Record<string, string>>}
 */
export async function ask(questions, values, context, openTerminal = openOwnTerminal) {
  /** @type {Record<string, string>} */
  const answers = {};
  const open = [];
  for (const question of questions) {
    const { option, initial, parse } = question;
    const given = values[option] ?? (values.yes ? initial?.(context) : undefined);
    if (given !== undefined) answers[option] = parseOption(option, parse, given);
    else open.push(question);
  }
  if (open.length === 0) return answers;
  const terminal = values.yes ? undefined : openTerminal();
  if (!terminal) throw new UserError(`missing ${open.map(({ option }) => `--${option}`).join(", ")}`);
  try {
    for (const question of open) answers[question.option] = await askOne(terminal, question, context);
  } finally {
    terminal.close();
  }
  return answers;
}

function openOwnTerminal() {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Keeps lines that were pasted before their question.
  const lines = terminal[Symbol.asyncIterator]();
  return {
    question: async (/** @type {string} */ text) => {
      terminal.setPrompt(text);
      terminal.prompt();
      const { value, done } = await lines.next();
      if (!done) return value;
      // Ctrl-C or Ctrl-D.
      console.log("\ncancelled; nothing was written");
      return process.exit(130);
    },
    close: () => terminal.close(),
  };
}

function parseOption(option, parse, text) {
  try {
    return parse(text.trim());
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`--${option}: ${error.message}`);
    throw error;
  }
}

/**
 * @param {Terminal} terminal
 * @param {import("./questions.mjs").Question} question
 * @param {{ folder: string }} context
 */
async function askOne(terminal, { text, initial, parse }, context) {
  const fallback = initial?.(context);
  while (true) {
    const typed = (await terminal.question(`${text}${fallback ? ` [${fallback}]` : ""}: `)).trim();
    try {
      return parse(typed || fallback || "");
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      console.log(`  ${error.message}`);
    }
  }
}
