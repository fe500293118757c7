// The size of the built Worker as Cloudflare counts it: its concatenated modules, compressed with gzip.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BUILD = new URL("../../edge-chat/build/", import.meta.url);

const modules = readdirSync(BUILD).filter((name) => name === "index.js" || name.endsWith(".wasm"));
const bytes = Buffer.concat(modules.map((name) => readFileSync(new URL(name, BUILD))));
console.log(
  JSON.stringify({
    figures: [
      ["worker_gzip_kb", gzipSync(bytes, { level: 9 }).length / 1000],
      ["worker_kb", bytes.length / 1000],
    ],
    context: { worker_modules: modules.join(", ") },
  }),
);
