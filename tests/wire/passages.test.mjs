// One passage, many descriptions: the widget's decoder, the MCP server's schemas and openapi.yaml name the fields that Rust writes.
// chat-core/tests/wire.json is a citation in which every field has a value; chat-core/tests/wire.rs writes and reads it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { assertSchema, description } from "../../edge-chat/tests/support/openapi.mjs";
import { ASK_OUTPUT, SEARCH_OUTPUT } from "../../packages/mcp/src/schemas.mjs";
import { importTs } from "../lib/import-ts.mjs";

const citation = JSON.parse(await readFile(new URL("../../chat-core/tests/wire.json", import.meta.url), "utf8"));
const { index: _index, strength: _strength, supports: _supports, ...result } = citation;
const { quotes: _quotes, ...found } = result;
const { excerpt: _excerpt, blocks: _blocks, ...nearest } = found;

/** The paths of all fields of a value, such as `quotes.pieces.role`. */
function fieldsOf(value, path = "") {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, path));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => [path + name, ...fieldsOf(field, `${path}${name}.`)]);
}

/** The paths of all fields that a JSON Schema allows. */
function describedBy(schema, path = "") {
  const { $ref, allOf = [], items, properties = {} } = schema;
  const target = $ref
    ?.slice(2)
    .split("/")
    .reduce((at, step) => at[step], description);
  const parts = [target, items, ...allOf].filter((part) => part !== undefined);
  const own = Object.entries(properties).filter(([, field]) => field !== false);
  const forbidden = Object.keys(properties).flatMap((name) => (properties[name] === false ? path + name : []));
  return [
    ...parts.flatMap((part) => describedBy(part, path)),
    ...own.flatMap(([name, field]) => [path + name, ...describedBy(field, `${path}${name}.`)]),
  ].filter((field) => !forbidden.some((name) => field === name || field.startsWith(`${name}.`)));
}

function assertSameFields(/** @type {string[]} */ named, /** @type {object} */ value) {
  const written = fieldsOf(value);
  const missing = written.filter((field) => !named.includes(field));
  assert.deepEqual(missing, [], "fields that Rust writes are missing");
  const unknown = named.filter((field) => !written.includes(field));
  assert.deepEqual(unknown, [], "there are fields that Rust does not write");
}

test("the widget's decoders keep every field of citations, found passages and search results", async (t) => {
  const url = (name) => new URL(`../../web/src/client/${name}`, import.meta.url);
  const { decodeEvent, search } = await importTs([url("decode.ts"), url("index.ts")]);
  const data = JSON.stringify({ citations: [citation], also_found: [found], referenced_indices: [1] });
  const sources = decodeEvent({ name: "sources", data });
  t.mock.method(globalThis, "fetch", async () => Response.json({ results: [result] }));
  const client = { endpoint: "https://chat.example/api/chat", tokenProvider: async () => "token" };
  const [searched] = await search({ embedding: [1], query: "Refunds?", model: "m" }, client);
  for (const [decoded, value] of [
    [sources.citations[0], citation],
    [sources.also_found[0], found],
    [searched, result],
  ]) {
    assertSameFields(fieldsOf(decoded), value);
    assert.deepEqual(decoded, value);
  }
});

test("openapi.yaml describes every field", () => {
  const { supports, ...quoted } = citation;
  for (const [name, fields, values] of [
    ["Citation", citation, [quoted, { ...citation, quotes: [] }]],
    ["FoundPassage", found, [found]],
    ["NearestPassage", nearest, [nearest]],
    ["SearchResult", result, [result]],
  ]) {
    const schema = `#/components/schemas/${name}`;
    for (const value of values) assertSchema(schema, value, name);
    assertSameFields(describedBy({ $ref: schema }), fields);
  }
});

test("the MCP server's schemas have every field but the layout", () => {
  const withoutLayout = ({ blocks: _, ...fields }) => fields;
  const fields = (schema) => describedBy(schema.toJSONSchema());
  assertSameFields(fields(ASK_OUTPUT.citations), withoutLayout(citation));
  assertSameFields(fields(ASK_OUTPUT.nearest), nearest);
  assertSameFields(fields(SEARCH_OUTPUT.results), withoutLayout(result));
});
