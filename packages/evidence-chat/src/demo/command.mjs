import { runDemo } from "./demo.mjs";

export const usage = `Usage: evidence-chat demo [options]

Runs Evidence Chat on this computer: a local Supabase, the Worker and a page, and fills the knowledge base with documents.
Nothing leaves the computer. The first run installs the packages that only the demo needs: 350 MB, in your data folder.

Options:
  --kb DIR            folder of documents for the knowledge base; default: the pages of a sample shop
  --data DIR          folder for the local database and its keys; created if it does not exist
  --json FILE         file for the addresses, the login and the process ids
  --allow-origin URL  origin of a page that may also use the chat, for example http://localhost:9000; repeatable
`;

export const options = /** @type {const} */ ({
  kb: { type: "string" },
  data: { type: "string" },
  json: { type: "string" },
  "allow-origin": { type: "string", multiple: true },
});

export async function run(values) {
  await runDemo({ ...values, allowOrigins: values["allow-origin"] });
  return 0;
}
