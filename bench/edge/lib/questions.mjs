import { readFileSync } from "node:fs";
import { setting } from "./settings.mjs";

/**
 * @typedef {object} Question
 * @property {string} text
 * @property {number[]} vector
 * @property {string} model fingerprint of the vector
 * @property {object[]} rows what `match_chunks` finds for it in the sample knowledge base
 */

/** @returns {Question[]} what `prepare.mjs` wrote */
export function loadQuestions() {
  return JSON.parse(readFileSync(setting("QUESTIONS"), "utf8"));
}

/** A body for POST /api/chat. */
export function chatBody({ text, vector, model }, fields = {}) {
  return { message: text, embedding: vector, model, message_id: crypto.randomUUID(), ...fields };
}
