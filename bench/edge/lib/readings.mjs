// Readings as clients send them, and as an attacker would.
import { readFileSync } from "node:fs";
import { post } from "./client.mjs";

const CALIBRATION = new URL("../../../chat-core/src/evidence/calibration.rs", import.meta.url);
const reader = /READER: &str = "([^"]+)"/.exec(readFileSync(CALIBRATION, "utf8"))?.[1];
/** The largest z that the Worker takes. */
const MAX_Z = 100;

/**
 * A reading for each question, as if the first statement of each passage answered it.
 * @param {import("./questions.mjs").Question[]} questions
 * @param {{ worker: string, agent: import("node:http").Agent, tokens: string[] }} client
 */
export async function readAll(questions, { worker, agent, tokens }) {
  const readings = [];
  for (const [index, { text, vector, model }] of questions.entries()) {
    const body = { query: text, embedding: vector, model, statements: true };
    const reply = await post(`${worker}/api/search`, { agent, token: tokens[index % tokens.length], body });
    if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.text}`);
    const { passages } = JSON.parse(reply.text);
    readings.push({ reader, passages: passages.map(readPassage) });
  }
  return readings;
}

function readPassage({ chunk_id, hash, statements }) {
  return { chunk_id, hash, z: statements.map((_, at) => (at === 0 ? 2 : -4)) };
}

/** One of the readings that a hostile client could send instead of this one. */
export function hostile({ reader, passages }, number) {
  const replaced = (change) => ({ reader, passages: passages.map((passage) => ({ ...passage, ...change(passage) })) });
  const forgeries = [
    () => replaced(({ z }) => ({ z: z.map(() => MAX_Z) })),
    () => replaced(({ z }) => ({ z: z.map(() => -MAX_Z) })),
    () => replaced(({ z }) => ({ z: z.map((_, at) => (at % 2 ? MAX_Z : null)) })),
    () => replaced(() => ({ hash: "0123456789abcdef" })),
    () => replaced(() => ({ chunk_id: crypto.randomUUID() })),
    () => replaced(({ z }) => ({ z: [...z, MAX_Z] })),
    () => ({ reader: "another", passages }),
    () => ({ reader, passages: [] }),
  ];
  return forgeries[number % forgeries.length]();
}
