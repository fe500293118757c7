// The time to parse, insert and lay out an answer with 50 markers and 50 citations.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { median, round } from "../edge/lib/statistics.mjs";
import { styleSheetsAsText } from "../../web/build/style-sheets-as-text.mjs";

const ENTRY = fileURLToPath(new URL("render-entry.ts", import.meta.url));
const WARM_UP = 3;
const RUNS = 21;

export async function renderCitations({ page, origin }) {
  const bundle = await bundled();
  await page.route(`${origin}/host/render.js`, (route) =>
    route.fulfill({ contentType: "text/javascript", body: bundle }),
  );
  await page.goto(`${origin}/host/blank`);
  const times = await page.evaluate(async (runs) => {
    const { renderCitations } = await import("/host/render.js");
    const times = [];
    for (let run = 0; run < runs; run++) {
      times.push(renderCitations(50));
      await new Promise(requestAnimationFrame);
    }
    return times;
  }, WARM_UP + RUNS);
  return [
    ["render_50_citations_ms", round(median(times.slice(WARM_UP)))],
    ["render_50_citations_first_ms", round(times[0])],
  ];
}

async function bundled() {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    minify: true,
    plugins: [styleSheetsAsText],
    logLevel: "warning",
  });
  return outputFiles[0].text;
}
