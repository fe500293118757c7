// Collects the static files that the Worker serves: `node packages/build/assets.mjs`, after `cargo xtask build web`. They are
// the widget, the embedder with its model and its reader, the writer, and the insights page; `_headers` tells Cloudflare how to serve them.
import { cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cutIntoPieces, PIECE_BYTES } from "../evidence-chat/src/deploy/model-pieces.mjs";
import { buildIntegrity } from "../../web/build/integrity.mjs";
import { insightsPolicy } from "../../web/pages/settings.mjs";

const WIDGET = fileURLToPath(new URL("../../web/dist/", import.meta.url));
const WEB = fileURLToPath(new URL("../../web/", import.meta.url));

/** The folder that wrangler.toml names. */
export const ASSETS = fileURLToPath(new URL("../../edge-chat/assets/", import.meta.url));

const LICENCES = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"];

/** Cloudflare rejects larger files. */
const MAX_FILE_BYTES = 25 * 1024 * 1024;

/** A chunk, or a file of the embedder. */
const HASHED_NAME = /-([A-Z0-9]{8}|[0-9a-f]{8})\.(js|wasm|safetensors\.gz)$/;
/** The file of the tag. Other files of the widget's build without a hash are for npm. */
const FIXED_NAME = /^evidence-chat\.js$/;

/** Headers of all files: any page may load them, also one that isolates itself with Cross-Origin-Embedder-Policy. */
const ALL_FILES = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Timing-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};
/** Headers of the insights page, which only administrators use. */
const INSIGHTS = {
  // The address of the project is known to the Worker only. http: is for a Supabase on this computer.
  "Content-Security-Policy": insightsPolicy("https: http://127.0.0.1:*"),
  "Referrer-Policy": "no-referrer",
};
/** Cloudflare's default `Cache-Control` makes browsers revalidate a file on each use. */
const IMMUTABLE = { "Cache-Control": "public, max-age=31536000, immutable" };
/** Headers of model and reader, which are also served in pieces. */
const IN_PIECES = {
  ...IMMUTABLE,
  "Access-Control-Expose-Headers": "ETag, Evidence-Chat-Piece-Bytes",
  "Evidence-Chat-Piece-Bytes": String(PIECE_BYTES),
};

/** Fills the folder and returns its path. */
export async function buildAssets(folder = ASSETS) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const entries = await readdir(WIDGET, { withFileTypes: true }).catch(() => []);
  const isServed = (name) => [HASHED_NAME, FIXED_NAME].some((pattern) => pattern.test(name.replace(/\.map$/, "")));
  const files = entries.filter((entry) => entry.isFile() && isServed(entry.name)).map(({ name }) => name);
  for (const needed of [
    /^evidence-chat\.js$/,
    /^all-MiniLM-[\w-]+\.safetensors\.gz$/,
    /^reader-[\w-]+\.safetensors\.gz$/,
  ]) {
    if (!files.some((name) => needed.test(name))) {
      throw new Error(`web/dist has no ${needed.source}: run \`cargo xtask setup\`, then \`cargo xtask build web\``);
    }
  }
  for (const name of files) await copy(`${WIDGET}${name}`, `${folder}/${name}`);
  if (entries.some(({ name }) => name === "writer")) await copy(`${WIDGET}writer`, `${folder}/writer`);
  if (entries.some(({ name }) => name === "insights")) await copy(`${WIDGET}insights`, `${folder}/insights`);
  await buildIntegrity(folder);
  for (const name of files.filter(isModel)) await cutIntoPieces(`${folder}/${name}`);
  for (const name of LICENCES) await copy(`${WEB}${name}`, `${folder}/${name}`);
  await writeFile(`${folder}/_headers`, headersFile(files));
  return folder;
}

async function copy(from, to) {
  const { size } = await stat(from);
  if (size > MAX_FILE_BYTES) throw new Error(`${from} has ${size} bytes; Cloudflare serves at most ${MAX_FILE_BYTES}`);
  await cp(from, to, { recursive: true });
}

/** The model of the vectors, or the reader. */
function isModel(name) {
  return name.endsWith(".safetensors.gz");
}

/** The text of `_headers`: https://developers.cloudflare.com/workers/static-assets/headers/ */
export function headersFile(files) {
  // One rule for each path: of two, only the last counts.
  const headersOf = (name) => (isModel(name) ? IN_PIECES : IMMUTABLE);
  const hashed = files.filter((name) => HASHED_NAME.test(name)).map((name) => rule(`/${name}`, headersOf(name)));
  const pieces = files.filter(isModel).map((name) => rule(`/${name}.*`, IMMUTABLE));
  const insights = [rule("/insights/*", INSIGHTS), rule("/insights/assets/*", IMMUTABLE)];
  return [rule("/*", ALL_FILES), ...hashed, ...pieces, ...insights].join("");
}

/** The headers of all files whose path matches. */
export function rule(path, headers) {
  return `${path}\n${Object.entries(headers)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join("")}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(`built ${await buildAssets()}`);
