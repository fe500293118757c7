import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { intersection, maxCardWidth, placeCard } = await importTs(
  new URL("../src/panel/citations/card.ts", import.meta.url),
);

const BOUNDS = { left: 100, top: 50, right: 500, bottom: 450 };
const CARD = { width: 300, height: 150 };
const badgeAt = (left, top) => ({ left, top, right: left + 20, bottom: top + 20 });
const place = (badge, { card = CARD, bounds = BOUNDS, direction = "ltr" } = {}) =>
  placeCard(badge, card, bounds, direction);

test("a card is placed below its badge and starts near it", () => {
  assert.deepEqual(place(badgeAt(150, 100)), { x: 132, y: 126, height: 150 });
});

test("a right-to-left card ends near its badge", () => {
  assert.deepEqual(place(badgeAt(430, 100), { direction: "rtl" }), { x: 168, y: 126, height: 150 });
});

test("a card stays inside the bounds on both sides", () => {
  assert.equal(place(badgeAt(100, 100)).x, 106);
  assert.equal(place(badgeAt(480, 100)).x, 194);
  assert.equal(place(badgeAt(100, 100), { direction: "rtl" }).x, 106);
});

test("a card is placed above the badge if it does not fit below, to the pixel", () => {
  assert.equal(place(badgeAt(150, 268)).y, 294);
  assert.equal(place(badgeAt(150, 269)).y, 113);
});

test("a card that fits on neither side shrinks on the side with more room", () => {
  const card = { width: 300, height: 400 };
  assert.deepEqual(place(badgeAt(150, 100), { card }), { x: 132, y: 126, height: 318 });
  assert.deepEqual(place(badgeAt(150, 400), { card }), { x: 132, y: 56, height: 338 });
});

test("a card is no wider than the widget", () => {
  const narrow = { ...BOUNDS, right: 300 };
  assert.equal(maxCardWidth(narrow), 188);
  assert.deepEqual(place(badgeAt(250, 100), { bounds: narrow }), { x: 106, y: 126, height: 150 });
});

test("bounds without room never give a negative size", () => {
  const { height } = place(badgeAt(150, 60), { bounds: { ...BOUNDS, bottom: 60 } });
  assert.equal(height, 0);
});

test("the intersection of two rectangles is a rectangle, even if it is empty", () => {
  assert.deepEqual(intersection(BOUNDS, { left: 0, top: 0, right: 300, bottom: 900 }), { ...BOUNDS, right: 300 });
  assert.deepEqual(intersection(BOUNDS, { left: 600, top: 0, right: 700, bottom: 10 }), {
    left: 600,
    top: 50,
    right: 600,
    bottom: 50,
  });
});
