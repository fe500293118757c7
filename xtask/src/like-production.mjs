// The demo page as it is deployed: page, widget and API have one origin.
import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ASSETS, rule } from "../../packages/build/assets.mjs";
import { pageConfig, pagePolicy } from "../../web/pages/settings.mjs";

const PAGE = fileURLToPath(new URL("../../web/dist/demo", import.meta.url));

/**
 * Collects the static files of the Worker and of the page in one folder, with the headers. Needs `cargo xtask build assets`.
 * @param {string} folder
 * @param {Record<string, string | undefined>} settings named like the environment variables in serve.mjs; without CHAT_ENDPOINT, the
 *   widget asks the Worker that serves it
 */
export async function collectSite(folder, settings) {
  await rm(folder, { recursive: true, force: true });
  await cp(ASSETS, folder, { recursive: true });
  await cp(PAGE, folder, { recursive: true });
  const page = await readFile(`${folder}/index.html`, "utf8");
  await writeFile(`${folder}/index.html`, page.replaceAll("/widget/evidence-chat.js", "/evidence-chat.js"));
  await writeFile(`${folder}/config.json`, JSON.stringify(pageConfig(settings)));
  await appendFile(
    `${folder}/_headers`,
    [
      rule("/", { "Content-Security-Policy": pagePolicy(settings), "Referrer-Policy": "no-referrer" }),
      rule("/assets/*", { "Cache-Control": "public, max-age=31536000, immutable" }),
      rule("/config.json", { "Cache-Control": "no-store" }),
    ].join(""),
  );
}
