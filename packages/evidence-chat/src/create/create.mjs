import { relative, resolve } from "node:path";
import { ask } from "./ask.mjs";
import { createProject } from "./project.mjs";
import { QUESTIONS } from "./questions.mjs";
import { stepList } from "./templates.mjs";

export const options = /** @type {const} */ ({
  "supabase-url": { type: "string" },
  "supabase-key": { type: "string" },
  origin: { type: "string" },
  name: { type: "string" },
  visitors: { type: "string" },
  documents: { type: "string" },
  yes: { type: "boolean", short: "y" },
});

export const usage = `Usage: evidence-chat create [FOLDER] [options]

Writes a folder from which Evidence Chat is deployed: the Worker's settings, the database schema, the tag for your pages and
scripts. It asks for what the options do not say, never overwrites a file, and contacts no server.

Options:
  --supabase-url URL  your Supabase project: https://YOUR-REF.supabase.co
  --supabase-key KEY  its publishable key (sb_publishable_…), never the secret one
  --origin URLS       pages that may use the chat, comma-separated: https://www.example.com or https://*.example.com
  --name NAME         name of the Worker: lower-case letters, digits and hyphens
  --visitors WHO      who may ask: "accounts" (users who sign in on your site) or "anonymous" (also visitors without an account)
  --documents DIR     folder of documents, relative to FOLDER
  --yes               take the defaults instead of asking
`;

export const positionals = 1;

export async function run(values, /** @type {string[]} */ [name = "evidence-chat"]) {
  const folder = resolve(name);
  const answers = await ask(QUESTIONS, values, { folder });
  for (const file of await createProject(folder, answers)) console.log(`✓ ${file}`);
  const shown = relative(".", folder) || ".";
  console.log(`\nNothing has been sent anywhere yet. Next, in ${shown} (also in its README.md):\n`);
  console.log(stepList(answers).replaceAll("`", ""));
  return 0;
}
