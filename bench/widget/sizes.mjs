// The size of what a visitor downloads, compressed with brotli: with the page, and for a first answer.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { round } from "../edge/lib/statistics.mjs";

const DIST = fileURLToPath(new URL("../../web/dist/", import.meta.url));
/** Files of the embedder, which has a separate budget. */
const EMBEDDER = /^worker-\w+\.js$|\.wasm$|\.safetensors\.gz$/;
/** The code of instant results, which only a visitor who types needs. */
const SEARCH = /^search-/;

export async function sizes(host) {
  const requested = new Set();
  const record = (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/widget/")) requested.add(pathname.slice("/widget/".length));
  };
  host.page.on("request", record);
  await host.open({ token: await host.demo.newUser() });
  await host.page.waitForLoadState("networkidle");
  const launcher = [...requested];
  await host.ready();
  await host.ask("Can I get my money back after two weeks?");
  const search = [...requested].filter((file) => SEARCH.test(file));
  const all = [...requested].filter((file) => !SEARCH.test(file));
  await host.page.evaluate(async () => {
    const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
    const shadowRoot = /** @type {ShadowRoot} */ (chat.shadowRoot);
    const button = /** @type {HTMLElement} */ (shadowRoot.querySelector("[data-role=export]"));
    button.click();
    const isLoaded = () => performance.getEntriesByType("resource").some(({ name }) => name.includes("/references-"));
    while (!isLoaded()) await new Promise(requestAnimationFrame);
  });
  await host.page.waitForLoadState("networkidle");
  const references = [...requested].filter((file) => !all.includes(file) && !SEARCH.test(file));
  host.page.off("request", record);
  return [
    ["launcher_brotli_kb", await brotliKb(launcher)],
    ["widget_brotli_kb", await brotliKb(all)],
    ["references_brotli_kb", await brotliKb(references)],
    ["instant_results_brotli_kb", await brotliKb(search)],
    ["launcher_requests", launcher.length],
  ];
}

async function brotliKb(files) {
  const widgetFiles = files.filter((file) => !EMBEDDER.test(file));
  const contents = await Promise.all(widgetFiles.map((file) => readFile(DIST + file)));
  return round(contents.reduce((sum, content) => sum + brotliCompressSync(content).length, 0) / 1000);
}
