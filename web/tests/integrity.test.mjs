import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { buildIntegrity, integrityOf } from "../build/integrity.mjs";

test("integrity.json has the SHA-384 of each file, sorted by name, and no folders", async (t) => {
  const dist = await mkdtemp(join(tmpdir(), "evidence-chat-integrity-"));
  t.after(() => rm(dist, { recursive: true }));
  await writeFile(join(dist, "worker.js"), "self;");
  await writeFile(join(dist, "a.wasm"), new Uint8Array([0, 97, 115, 109]));
  await mkdir(join(dist, "types"));
  await writeFile(join(dist, "types", "index.d.ts"), "export {};");
  // Twice, because the file of an earlier build must not be listed.
  await buildIntegrity(dist);
  await buildIntegrity(dist);
  const { files } = JSON.parse(await readFile(join(dist, "integrity.json"), "utf8"));
  assert.deepEqual(Object.keys(files), ["a.wasm", "worker.js"]);
  assert.equal(files["worker.js"], integrityOf("self;"));
});

test("a hash has the format of integrity attributes", () => {
  // The specification's example, https://www.w3.org/TR/SRI/.
  assert.equal(
    integrityOf("alert('Hello, world.');"),
    "sha384-H8BRh8j48O9oYatfu5AZzq6A9RINhZO5H16dQZngK7T62em8MUt1FLm52t+eX6xO",
  );
});
