import { runProgram } from "../program.mjs";
import { locateKb, locateModel } from "./locate.mjs";

/** Runs the program of this platform with the same arguments. */
export function run(/** @type {string[]} */ args) {
  const env = { ...process.env, EVIDENCE_MODEL_DIR: locateModel() };
  return runProgram(locateKb(), args, env);
}
