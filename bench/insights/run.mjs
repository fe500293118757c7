// Prints the figures of measure.mjs as JSON; the program that reads them is bench/src/insights.rs. Environment: MESSAGES, RUNS, VIEWS,
// CHROMIUM_PATH.
import { measureInsights } from "./measure.mjs";

const TURNS = 300;

const { MESSAGES, RUNS, VIEWS } = process.env;
const result = await measureInsights({
  messages: Number(MESSAGES),
  runs: Number(RUNS),
  views: Number(VIEWS),
  turns: TURNS,
  onStep: (step) => process.stderr.write(`  ${step}\n`),
});
console.log(JSON.stringify(result));
