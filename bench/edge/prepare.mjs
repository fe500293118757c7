// Embeds the questions of the bench with `kb embed`, searches the local Supabase for them, and writes both
// to the file QUESTIONS. Environment: KB_BINARY, EVIDENCE_MODEL_DIR, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY,
// WORKER_SECRET.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setting } from "./lib/settings.mjs";
import { matchChunks, signUp } from "./lib/supabase.mjs";
import { TEXTS } from "./lib/texts.mjs";

const { token } = await signUp();
const questions = [];
for (const text of TEXTS) {
  const { vector, model } = JSON.parse(execFileSync(setting("KB_BINARY"), ["embed", text], { encoding: "utf8" }));
  questions.push({ text, vector, model, rows: await matchChunks(token, { vector, text }) });
}
writeFileSync(setting("QUESTIONS"), JSON.stringify(questions));
