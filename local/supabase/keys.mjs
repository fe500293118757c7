import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { StartupError } from "../service.mjs";
import { generateApiKey } from "@supabase/lite";

/**
 * Secrets of one local project, in the file format shared with the other tools of this repository.
 * @typedef {{ jwt_secret: string, publishable_key: string, secret_key: string, worker_secret: string }} Keys
 */

/** @returns {Promise<Keys>} */
export async function generateKeys() {
  const [publishable, secret] = await Promise.all([generateApiKey("publishable"), generateApiKey("secret")]);
  return {
    jwt_secret: randomBytes(32).toString("base64url"),
    publishable_key: publishable.key,
    secret_key: secret.key,
    // The database recognizes the Worker by this secret.
    worker_secret: randomBytes(32).toString("base64url"),
  };
}

/**
 * Reads `keys.json` of a data folder, and creates it if it is missing.
 * @param {string} dataDir
 * @returns {Promise<Keys>}
 */
export async function loadOrCreateKeys(dataDir) {
  const file = path.join(dataDir, "keys.json");
  const text = await readFile(file, "utf8").catch((error) => {
    if (error.code === "ENOENT") return undefined;
    throw new StartupError(`Cannot read ${file}: ${error.message}`);
  });
  if (text !== undefined) return parseKeys(text, file);
  const keys = await generateKeys();
  await writeKeys(keys, file);
  return keys;
}

async function writeKeys(keys, file) {
  // Written elsewhere and renamed, so that a reader never sees half a file.
  const unfinished = `${file}.${process.pid}.tmp`;
  await writeFile(unfinished, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

function parseKeys(text, file) {
  let keys;
  try {
    keys = JSON.parse(text);
  } catch {
    throw new StartupError(
      `${file} is not valid JSON. Delete it to get new keys; tokens issued so far become invalid.`,
    );
  }
  for (const name of ["jwt_secret", "publishable_key", "secret_key", "worker_secret"]) {
    if (typeof keys?.[name] !== "string" || keys[name] === "") {
      throw new StartupError(
        `${file} has no "${name}". Delete it to get new keys; tokens issued so far become invalid.`,
      );
    }
  }
  return keys;
}
