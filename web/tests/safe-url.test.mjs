import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { safeHref, safeLink, safeUrl } = await importTs(new URL("../src/client/safe-url.ts", import.meta.url));

/** Each URL with what the three functions return for it; `undefined` rejects it. */
const CASES = [
  ["https://example.com/a", "https://example.com/a", "https://example.com/a", "https://example.com/a"],
  ["HTTP://EXAMPLE.com", "http://example.com/", "http://example.com/", "http://example.com/"],
  ["mailto:help@example.com", undefined, "mailto:help@example.com", "mailto:help@example.com"],
  ["MAILTO:help@example.com", undefined, "mailto:help@example.com", "mailto:help@example.com"],
  ["blob:https://example.com/1", undefined, undefined, "blob:https://example.com/1"],
  ["BLOB:https://example.com/1", undefined, undefined, "blob:https://example.com/1"],
  ["https://user:secret@example.com/", undefined, undefined, undefined],
  ["javascript:alert(1)", undefined, undefined, undefined],
  ["JaVaScRiPt:alert(1)", undefined, undefined, undefined],
  ["java\nscript:alert(1)", undefined, undefined, undefined],
  ["data:text/html,x", undefined, undefined, undefined],
  ["/relative", undefined, undefined, undefined],
  ["", undefined, undefined, undefined],
  [null, undefined, undefined, undefined],
  [7, undefined, undefined, undefined],
];

for (const [url, web, link, href] of CASES) {
  const places = ["web", "link", "href"].filter((_, place) => [web, link, href][place] !== undefined);
  test(`the URL ${JSON.stringify(url)} is allowed in: ${places.join(", ") || "no place"}`, () => {
    assert.deepEqual([safeUrl(url), safeLink(url), safeHref(url)], [web, link, href]);
  });
}
