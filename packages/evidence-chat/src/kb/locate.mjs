import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "../user-error.mjs";
import { packageOf, PLATFORMS } from "./platforms.mjs";

const require = createRequire(import.meta.url);
const OTHER_WAYS =
  "Use the container image, or build it: https://github.com/evidence-chat/evidence-chat/blob/main/docs/admin.md";

/**
 * The path of the program `kb` for this computer: the value of `KB_BINARY`, or the file in the package of this platform.
 * @param {{ platform?: string, arch?: string, isMusl?: boolean }} [system]
 */
export function locateKb({ platform = process.platform, arch = process.arch, isMusl = usesMusl() } = {}) {
  if (process.env.KB_BINARY) return process.env.KB_BINARY;
  const key = `${platform}-${arch}`;
  const found = PLATFORMS.find((known) => known.key === key);
  if (!found) {
    const keys = PLATFORMS.map((known) => known.key).join(", ");
    throw new UserError(`There is no kb for ${key}, only for ${keys}. ${OTHER_WAYS}`);
  }
  if (found.libc === "glibc" && isMusl) {
    throw new UserError(
      `kb needs the C library glibc; this system has musl (Alpine Linux, for example). ${OTHER_WAYS}`,
    );
  }
  const name = packageOf(key);
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), found.program);
  } catch {
    throw new UserError(
      `The package ${name}, which has the program for this computer, is not installed. Install evidence-chat again ` +
        "without --omit=optional or --no-optional, and on the computer that runs it: node_modules of another platform " +
        "does not contain it.",
    );
  }
}

/** The folder with the models for `kb`: the value of `EVIDENCE_MODEL_DIR`, or that of the embedder. */
export function locateModel() {
  return process.env.EVIDENCE_MODEL_DIR || embedderFolder();
}

/** The folder of the package `@evidence-chat/embedder` with its models. */
export function embedderFolder() {
  try {
    return join(dirname(require.resolve("@evidence-chat/embedder/package.json")), "dist");
  } catch {
    throw new UserError(
      "The package @evidence-chat/embedder, which has the models, is not installed. Install evidence-chat again.",
    );
  }
}

/** Whether the C library of this process is musl. */
function usesMusl() {
  if (process.platform !== "linux") return false;
  const report = /** @type {any} */ (process.report.getReport());
  return !report.header.glibcVersionRuntime;
}
