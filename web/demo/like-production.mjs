// The demo page as it is deployed: `node web/demo/like-production.mjs FOLDER` collects the static files of the Worker and of the
// page in one folder, with the headers. Page, widget and API then have one origin. The environment is that of serve.mjs; without
// CHAT_ENDPOINT the widget asks the Worker that serves it. Needs `cargo xtask build assets`.
import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ASSETS, rule } from "../../edge-chat/build-assets.mjs";
import { pageConfig, pagePolicy } from "./page-settings.mjs";

const PAGE = fileURLToPath(new URL("../dist/demo", import.meta.url));

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: like-production.mjs FOLDER");
await rm(folder, { recursive: true, force: true });
await cp(ASSETS, folder, { recursive: true });
await cp(PAGE, folder, { recursive: true });
const page = await readFile(`${folder}/index.html`, "utf8");
await writeFile(`${folder}/index.html`, page.replaceAll("/widget/evidence-chat.js", "/evidence-chat.js"));
await writeFile(`${folder}/config.json`, JSON.stringify(pageConfig(process.env)));
await appendFile(
  `${folder}/_headers`,
  [
    rule("/", { "Content-Security-Policy": pagePolicy(process.env), "Referrer-Policy": "no-referrer" }),
    rule("/assets/*", { "Cache-Control": "public, max-age=31536000, immutable" }),
    rule("/config.json", { "Cache-Control": "no-store" }),
  ].join(""),
);
