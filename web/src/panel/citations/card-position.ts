/** A rectangle in pixels of the viewport. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The position and the maximum height of a card, in pixels. */
export interface CardPlace {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** Gap between badge and card, and between card and border. */
const GAP = 6;
/** Distance from the card's edge to the badge, so that the badge points into the card. */
const INSET = 18;

/** The intersection of two rectangles; an empty rectangle if they do not overlap. */
export function intersection(a: Box, b: Box): Box {
  const left = Math.max(a.left, b.left);
  const top = Math.max(a.top, b.top);
  return {
    left,
    top,
    right: Math.max(left, Math.min(a.right, b.right)),
    bottom: Math.max(top, Math.min(a.bottom, b.bottom)),
  };
}

/** The maximum width of a card in these bounds. */
export function maxCardWidth({ left, right }: Box): number {
  return Math.max(0, right - left - 2 * GAP);
}

/**
 * Places a card near a badge and inside the bounds: below the badge if it fits, else above, else shrunk on the side
 * with more room.
 */
export function placeCard(
  badge: Box,
  card: { readonly width: number; readonly height: number },
  bounds: Box,
  direction: "ltr" | "rtl",
): CardPlace {
  const width = Math.min(card.width, maxCardWidth(bounds));
  const wished = direction === "ltr" ? badge.left - INSET : badge.right + INSET - width;
  const x = Math.max(bounds.left + GAP, Math.min(wished, bounds.right - GAP - width));
  const below = bounds.bottom - GAP - (badge.bottom + GAP);
  const above = badge.top - GAP - (bounds.top + GAP);
  const isBelow = card.height <= below || (card.height > above && below >= above);
  const height = Math.max(0, Math.min(card.height, isBelow ? below : above));
  return { x, y: isBelow ? badge.bottom + GAP : badge.top - GAP - height, height };
}
