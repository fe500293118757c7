// The manifest of @evidence-chat/writer, as npm and the tools of its users read it.
import { checkPackage } from "./check-package.mjs";
import { WRITER } from "./consumer.mjs";

checkPackage("writer", {
  path: WRITER,
  directory: "writer/npm",
  // The other entries are WebAssembly and the manifest, which have no types.
  entries: ["."],
  files: ["THIRD-PARTY.md"],
});
