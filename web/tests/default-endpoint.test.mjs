import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { defaultEndpoint } = await importTs(new URL("../src/element/attributes.ts", import.meta.url));

for (const [script, endpoint] of [
  ["https://chat.example.com/evidence-chat.js", "https://chat.example.com/api/chat"],
  ["https://chat.example.com/evidence-chat.js?v=2#x", "https://chat.example.com/api/chat"],
  ["http://127.0.0.1:8787/evidence-chat.js", "http://127.0.0.1:8787/api/chat"],
]) {
  test(`the endpoint of ${script} is ${endpoint}`, () => assert.equal(defaultEndpoint(script), endpoint));
}

for (const script of [
  "https://cdn.example.com/npm/@evidence-chat/widget@1.0.0/dist/evidence-chat.js",
  "https://www.example.com/evidence-chat/evidence-chat.js",
  "https://www.example.com/assets/index-BxAm1usz.js",
  "https://www.example.com/index.js",
  "https://www.example.com/evidence-chat.js/other.js",
  "file:///evidence-chat.js",
  undefined,
]) {
  test(`${script} has no endpoint of its own`, () => assert.equal(defaultEndpoint(script), ""));
}
