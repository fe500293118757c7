import { createInterface } from "node:readline/promises";
import { UserError } from "./user-error.mjs";

/**
 * The answers by option: those of the command line, then what the user types.
 * @param {readonly import("./questions.mjs").Question[]} questions
 * @param {Record<string, any>} values of the command line; with `yes`, nothing is asked
 * @param {{ folder: string }} context
 * @returns {Promise<Record<string, string>>}
 */
export async function ask(questions, values, context) {
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
  if (values.yes || !process.stdin.isTTY) {
    throw new UserError(`missing ${open.map(({ option }) => `--${option}`).join(", ")}`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (const question of open) answers[question.option] = await askOne(terminal, question, context);
  } finally {
    terminal.close();
  }
  return answers;
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
 * @param {import("node:readline/promises").Interface} terminal
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
