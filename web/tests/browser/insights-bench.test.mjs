// The bench of the insights page with few messages, so that its programs follow the page and the schema.
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureInsights } from "../../../bench/insights/measure.mjs";
import { UnavailableError } from "../../../supabase/tests/support/native-postgres.mjs";

const SECTIONS = [
  "All sections",
  "Documents that are cited most",
  "Documents that are not cited",
  "Feedback",
  "Health of citations",
  "Over time",
  "Overview",
  "Questions without a good answer",
];

test("the bench times every section of the page for each period and assistant", async (t) => {
  let result;
  try {
    result = await measureInsights({ messages: 8000, runs: 1, views: 1, turns: 1 });
  } catch (error) {
    if (error instanceof UnavailableError) return t.skip(`platform: ${error.message}`);
    throw error;
  }
  const scopes = [7, 30, 90].flatMap((days) => [null, "shop"].map((assistant) => ({ days, assistant })));
  const seen = ({ section, days, assistant }) => `${section}, ${days} days, ${assistant}`;
  assert.deepEqual(
    result.page.map(seen).sort(),
    SECTIONS.flatMap((section) => scopes.map((scope) => seen({ section, ...scope }))).sort(),
  );
  for (const { ms, section } of result.page) assert.ok(ms.p50 > 0 && ms.p50 <= ms.p95, section);
  assert.equal(result.views.length, 7 * scopes.length);
  assert.equal(result.rows.chat_messages, 8000);
});
