import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageOf, PLATFORMS } from "./platforms.mjs";

const require = createRequire(import.meta.url);
const OTHER_WAYS =
  "Use the container image, or build it: https://github.com/evidence-chat/evidence-chat/blob/main/docs/admin.md";

/**
 * See types/locate.d.mts.
 * @param {{ platform?: string, arch?: string, isMusl?: boolean }} [system]
 */
export function locateKb({ platform = process.platform, arch = process.arch, isMusl = usesMusl() } = {}) {
  if (process.env.KB_BINARY) return process.env.KB_BINARY;
  const key = `${platform}-${arch}`;
  const found = PLATFORMS.find((known) => known.key === key);
  if (!found) {
    const keys = PLATFORMS.map((known) => known.key).join(", ");
    throw new Error(`There is no kb for ${key}, only for ${keys}. ${OTHER_WAYS}`);
  }
  if (found.libc === "glibc" && isMusl) {
    throw new Error(`kb needs the C library glibc; this system has musl (Alpine Linux, for example). ${OTHER_WAYS}`);
  }
  const name = packageOf(key);
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), found.program);
  } catch {
    throw new Error(
      `The package ${name}, which has the program for this computer, is not installed. Install @evidence-chat/kb again ` +
        "without --omit=optional or --no-optional, and on the computer that runs it: node_modules of another platform " +
        "does not contain it.",
    );
  }
}

/** See types/locate.d.mts. */
export function locateModel() {
  if (process.env.EVIDENCE_MODEL_DIR) return process.env.EVIDENCE_MODEL_DIR;
  try {
    return join(dirname(require.resolve("@evidence-chat/embedder/package.json")), "dist");
  } catch {
    throw new Error(
      "The package @evidence-chat/embedder, which has the model, is not installed. Install @evidence-chat/kb again, or set " +
        "EVIDENCE_MODEL_DIR to a folder with the model.",
    );
  }
}

/** Whether the C library of this process is musl. */
function usesMusl() {
  if (process.platform !== "linux") return false;
  const report = /** @type {any} */ (process.report.getReport());
  return !report.header.glibcVersionRuntime;
}
