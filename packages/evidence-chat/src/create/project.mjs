import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { exampleDocument, gitignore, packageJson, readme, supabaseConfig, tag } from "./templates.mjs";
import { UserError } from "../user-error.mjs";

/** Filled when the package is packed. */
const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
/** The settings of the Worker of a site, with example values. */
export const WORKER_CONFIG = join(DIST, "wrangler.toml");
/** Only its owner may read the file with the secret key. */
const SECRET = 0o600;

/**
 * Writes the files of a project, none of which may exist yet.
 * @param {string} folder absolute path
 * @param {Record<string, string>} answers see questions.mjs
 * @returns {Promise<string[]>} paths of the files, relative to the folder; those of a folder as one entry
 */
export async function createProject(folder, answers) {
  await checkFolders(folder, answers.documents);
  const files = await contents(folder, answers);
  const existing = [...files.keys()].filter((path) => existsSync(join(folder, path)));
  if (existing.length > 0) {
    const list = existing.slice(0, 5).join(", ");
    throw new UserError(`${folder} already has ${list}: choose another folder, nothing is overwritten`);
  }
  for (const [path, { text, mode }] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx", ...(mode && { mode }) });
  }
  const names = [...files.keys()].map((path) => (path.includes("migrations/") ? "supabase/migrations/" : path));
  return [...new Set(names)];
}

/** Checks that the folder can be created, and that a folder of documents outside of it exists. */
async function checkFolders(folder, documents) {
  const isFolder = (path) =>
    stat(path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
  if (existsSync(folder) && !(await isFolder(folder)))
    throw new UserError(`${folder} is a file: choose another folder`);
  const path = join(folder, documents);
  if (existsSync(path) && !(await isFolder(path))) throw new UserError(`${path} is a file: name its folder`);
  if (/^\.\.(\/|\\|$)/.test(normalize(documents)) && !existsSync(path)) {
    throw new UserError(`${path} does not exist. The folder of documents is relative to ${folder}`);
  }
}

/** @returns {Promise<Map<string, { text: string, mode?: number }>>} */
async function contents(folder, answers) {
  const versions = await packageVersions();
  const files = new Map();
  const add = (path, text, mode) => files.set(path, { text, mode });
  add("package.json", packageJson(answers, versions));
  add("wrangler.toml", await workerConfig(answers));
  add(
    ".env",
    `SUPABASE_URL=${answers["supabase-url"]}\n# Under Project Settings → API Keys: sb_secret_…\nSUPABASE_SECRET_KEY=\n`,
    SECRET,
  );
  add(".gitignore", gitignore());
  add("index.html", tag(answers));
  add("README.md", readme(answers));
  add("supabase/config.toml", supabaseConfig(answers));
  const migrations = await readdir(join(DIST, "supabase/migrations"));
  for (const path of [...migrations.sort().map((name) => `migrations/${name}`), "seed.sql"]) {
    add(`supabase/${path}`, await readFile(join(DIST, "supabase", path), "utf8"));
  }
  if (!existsSync(join(folder, answers.documents))) {
    add(join(answers.documents, "about-this-chat.md"), exampleDocument());
  }
  return files;
}

/** The versions that a new project pins: this package, and the wrangler that it is tested with. */
export async function packageVersions() {
  const manifest = async (path) => JSON.parse(await readFile(join(DIST, path), "utf8"));
  const { name, version } = await manifest("../package.json");
  const { wrangler } = (await manifest("local/package.json")).devDependencies;
  return { [name]: version, wrangler };
}

async function workerConfig(answers) {
  const values = {
    name: answers.name,
    SUPABASE_URL: answers["supabase-url"],
    SUPABASE_PUBLISHABLE_KEY: answers["supabase-key"],
    CHAT_ALLOWED_ORIGINS: answers.origin,
  };
  let text = await readFile(WORKER_CONFIG, "utf8");
  // Each parser rejects quotes and line breaks, so the values need no escaping.
  for (const [name, value] of Object.entries(values))
    text = setValue(text, new RegExp(`^${name} = ".*"$`, "m"), name, value);
  if (answers.visitors !== "anonymous") return text;
  return setValue(text, /^# CHAT_ANONYMOUS = .*$/m, "CHAT_ANONYMOUS", "true");
}

function setValue(text, line, name, value) {
  if (!line.test(text)) throw new Error(`the template of wrangler.toml has no ${name}`);
  return text.replace(line, () => `${name} = "${value}"`);
}
