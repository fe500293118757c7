import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { shortDate } = await importTs(new URL("../src/panel/history/session-row.ts", import.meta.url));

// Local times, because days begin at the visitor's midnight.
const NOW = "2026-11-22T15:00:00";

const CASES = [
  ["2026-11-22T15:00:00", "now"],
  ["2026-11-22T14:59:01", "now"],
  ["2026-11-22T14:59:00", "1 minute ago"],
  ["2026-11-22T14:00:01", "59 minutes ago"],
  ["2026-11-22T14:00:00", "1 hour ago"],
  ["2026-11-22T00:00:00", "15 hours ago"],
  ["2026-11-21T23:59:59", "yesterday"],
  ["2026-11-21T00:00:00", "yesterday"],
  ["2026-11-20T23:59:59", "2 days ago"],
  ["2026-11-16T00:00:00", "6 days ago"],
  ["2026-11-15T23:59:59", "Nov 15"],
  ["2026-01-01T00:00:00", "Jan 1"],
  ["2025-12-31T23:59:59", "Dec 31, 2025"],
  ["2026-11-22T15:00:30", "now"],
  ["2030-01-01T00:00:00", "now"],
];
for (const [moment, expected] of CASES) {
  test(`the date ${moment} is shown as "${expected}"`, () =>
    assert.equal(shortDate(new Date(moment), new Date(NOW), "en"), expected));
}

test("a moment minutes ago is not yesterday, even shortly after midnight", () => {
  const at = (time) => shortDate(new Date(`2026-11-21T${time}`), new Date("2026-11-22T00:10:00"), "en");
  assert.deepEqual([at("23:50:00"), at("23:00:00")], ["20 minutes ago", "yesterday"]);
});

test("an invalid date gives an empty text", () => {
  for (const text of ["", "yesterday", "2026-13-45"]) assert.equal(shortDate(new Date(text), new Date(NOW), "en"), "");
});

test("dates follow the language", () => {
  const at = (moment, language) => shortDate(new Date(moment), new Date(NOW), language);
  assert.equal(at("2026-11-21T12:00:00", "de"), "gestern");
  assert.equal(at("2025-02-03T12:00:00", "ja"), "2025年2月3日");
  assert.match(at("2026-11-22T14:30:00", "ar"), /دقيقة/);
});
