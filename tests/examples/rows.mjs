// What `tests/examples/run.mjs` builds and opens.
import { fileURLToPath } from "node:url";
import { RUNTIMES } from "./runtimes.mjs";

const EXAMPLES = new URL("../../examples/", import.meta.url);

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} [example] folder of the project
 * @property {string} [starter] of a generator of documentation, with our plugin of that name
 * @property {string} [runtime] of servers, in which the packages are imported instead
 * @property {Record<string, string>} [versions] of the dependencies, instead of the example's own
 * @property {string} [serve] folder to serve after the build
 * @property {(port: string) => string[]} [start] command of a server that runs after the build
 * @property {(port: string) => string[]} [dev] command of the dev server; nothing is built
 */

const example = (name) => fileURLToPath(new URL(name, EXAMPLES));
const VITES = { 5: "5.4.9", 6: "6.4.6", 7: "7.3.8", 8: "8.3.8" };
const viteDev = (port) => ["npx", "vite", "--host", "127.0.0.1", "--port", port, "--strictPort"];

const vitepressDev = (port) => ["npx", "vitepress", "dev", "--host", "127.0.0.1", "--port", port, "--strictPort"];
const astroDev = (port) => ["npx", "astro", "dev", "--host", "127.0.0.1", "--port", port];

/** @type {Row[]} */
export const ROWS = [
  ...Object.keys(RUNTIMES).map((runtime) => ({ name: `import in ${runtime}`, runtime })),
  { name: "html", example: example("html"), serve: "dist" },
  { name: "webpack", example: example("webpack"), serve: "dist" },
  { name: "next", example: example("next"), start: (port) => ["npx", "next", "start", "-H", "127.0.0.1", "-p", port] },
  { name: "nuxt", example: example("nuxt"), start: () => ["node", ".output/server/index.mjs"] },
  { name: "sveltekit", example: example("sveltekit"), start: () => ["node", "build"] },
  { name: "astro", example: example("astro"), serve: "dist" },
  ...Object.entries(VITES).flatMap(([major, vite]) =>
    ["vite-react", "vite-vue"].flatMap((name) => [
      { name: `${name}, Vite ${major}`, example: example(name), versions: { vite }, serve: "dist" },
      { name: `${name}, Vite ${major}, dev`, example: example(name), versions: { vite }, dev: viteDev },
    ]),
  ),
  {
    name: "vite-react, React 18",
    example: example("vite-react"),
    versions: { react: "18.3.1", "react-dom": "18.3.1" },
    serve: "dist",
  },
  { name: "docusaurus", starter: "docusaurus", serve: "build" },
  { name: "vitepress", starter: "vitepress", serve: ".vitepress/dist" },
  { name: "vitepress, dev", starter: "vitepress", dev: vitepressDev },
  { name: "starlight", starter: "starlight", serve: "dist" },
  { name: "starlight, dev", starter: "starlight", dev: astroDev },
];
