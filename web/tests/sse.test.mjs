import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { SseParser } = await importTs(new URL("../src/client/sse.ts", import.meta.url));

const TRICKY =
  ": heartbeat\n\n" +
  "event: first\ndata: one\r\ndata:two\rdata\n\n" +
  "\r\n\r\n" +
  "data: Zoë — 日本語 🎉\r\r" +
  ":\r\nevent:second\r\nid: 7\r\nretry: 10\r\ndata:  indented\r\n\r\n" +
  "event: no-data\n\n" +
  "data: a:b:c\nunknown: x\n\n" +
  "data: never dispatched";

const EXPECTED = [
  { name: "first", data: "one\ntwo\n" },
  { name: "message", data: "Zoë — 日本語 🎉" },
  { name: "second", data: " indented" },
  { name: "message", data: "a:b:c" },
];

function parse(chunks, limit) {
  const events = [];
  const parser = new SseParser((event) => events.push(event), limit);
  const decoder = new TextDecoder();
  for (const chunk of chunks) parser.push(decoder.decode(chunk, { stream: true }));
  return events;
}

test("a stream in one piece gives its events", () => {
  assert.deepEqual(parse([new TextEncoder().encode(TRICKY)]), EXPECTED);
});

test("a stream cut in two at any byte gives the same events", () => {
  const bytes = new TextEncoder().encode(TRICKY);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(parse([bytes.subarray(0, cut), bytes.subarray(cut)]), EXPECTED, `cut at byte ${cut}`);
  }
});

test("a stream in single bytes gives the same events", () => {
  const bytes = new TextEncoder().encode(TRICKY);
  assert.deepEqual(parse(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), EXPECTED);
});

test("an event above the limit is rejected, in one line, over many lines, between comments, and without any line end", () => {
  const encoder = new TextEncoder();
  const floods = [
    "data: 0123456789012345678901234\n",
    "data: 0123\n".repeat(10),
    "data: 0123\n:\n".repeat(10),
    "x".repeat(40),
  ];
  for (const flood of floods) {
    assert.throws(() => parse([encoder.encode(flood)], 24), RangeError);
    assert.throws(
      () =>
        parse(
          Array.from(encoder.encode(flood), (byte) => Uint8Array.of(byte)),
          24,
        ),
      RangeError,
    );
  }
});

test("heartbeats and small events do not add up to the limit", () => {
  const stream = new TextEncoder().encode(": still here\n".repeat(50) + "data: ok\n\n".repeat(50));
  assert.equal(parse([stream], 24).length, 50);
});
