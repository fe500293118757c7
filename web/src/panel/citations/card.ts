import { element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";

/** Time that the pointer or the focus rests on a badge before its card opens. */
const OPEN_DELAY_MS = 200;
/** Time that the pointer may take from the badge to the card before it closes. */
const CLOSE_DELAY_MS = 250;

/** A badge that has a card. */
export interface CardSubject {
  readonly badge: HTMLElement;
  /** The parent of the card; the card is removed with it. */
  readonly home: HTMLElement;
  /**
   * Creates the content. The element with the id `title` labels the card, the one with `description` describes the
   * badge.
   */
  draw(ids: { readonly title: string; readonly description: string }): Node[];
}

const cards = new WeakMap<Translator, CitationCard>();

/** The card of the translator's widget; all badges of a widget share one. */
export function cardOf(translator: Translator): CitationCard {
  const card = cards.get(translator) ?? new CitationCard(translator);
  cards.set(translator, card);
  return card;
}

/**
 * A card that opens next to a badge when pointer or focus rest on it, and stays open while they are on badge or card.
 * Escape closes it. Touch does not open it: a tap is a click.
 */
export class CitationCard {
  readonly #translator: Translator;
  readonly #root = element("div", {
    class: "citation-card",
    part: "citation-card",
    role: "dialog",
    "aria-labelledby": IDS.title,
    "data-role": "citation-card",
  });
  /** The badge whose card is open or about to open. */
  #subject: CardSubject | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Removes the listeners of an open card. */
  #open: AbortController | undefined;
  /** Set while the focus returns to the badge, which must not open the card again. */
  #isReturning = false;

  constructor(translator: Translator) {
    this.#translator = translator;
    this.#root.popover = "manual";
    this.#root.addEventListener("pointerleave", () => this.#closeSoon());
    this.#root.addEventListener("focusout", () => this.#closeSoon());
  }

  /** Attaches the card to a badge. */
  attach(subject: CardSubject): void {
    const { badge } = subject;
    badge.addEventListener("pointerenter", ({ pointerType }) => {
      if (pointerType !== "touch") this.#openSoon(subject);
    });
    badge.addEventListener("pointerleave", () => this.#leave(subject));
    badge.addEventListener("focus", () => {
      if (this.#isReturning || !badge.matches(":focus-visible")) return;
      // Screen readers read the description immediately, so it must exist.
      this.#fill(subject);
      badge.setAttribute("aria-describedby", IDS.description);
      this.#openSoon(subject);
    });
    badge.addEventListener("blur", () => this.#leave(subject));
  }

  /** Closes the card, or cancels its opening. */
  close(): void {
    clearTimeout(this.#timer);
    this.#open?.abort();
    this.#open = undefined;
    this.#root.removeAttribute("data-open");
    if (this.#root.isConnected) this.#root.hidePopover?.();
    // No text of an answer outlives the answer here.
    this.#root.replaceChildren();
    this.#subject = undefined;
  }

  #openSoon(subject: CardSubject): void {
    clearTimeout(this.#timer);
    if (this.#open && this.#subject === subject) return;
    this.#timer = setTimeout(() => this.#show(subject), OPEN_DELAY_MS);
  }

  #closeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#isHeld()) this.close();
    }, CLOSE_DELAY_MS);
  }

  #leave({ badge }: CardSubject): void {
    if (!badge.matches(":focus-visible")) badge.removeAttribute("aria-describedby");
    this.#closeSoon();
  }

  #isHeld(): boolean {
    const badge = this.#subject?.badge;
    return this.#root.matches(":hover, :focus-within") || badge?.matches(":hover, :focus-visible") === true;
  }

  #fill(subject: CardSubject): void {
    this.close();
    this.#subject = subject;
    this.#root.replaceChildren(...subject.draw(IDS));
    subject.home.append(this.#root);
  }

  #show(subject: CardSubject): void {
    if (!subject.badge.isConnected) return;
    if (this.#subject !== subject || !this.#root.isConnected) this.#fill(subject);
    this.#open?.abort();
    this.#open = new AbortController();
    const { signal } = this.#open;
    this.#root.setAttribute("data-open", "");
    this.#root.showPopover?.();
    this.#place();
    for (const excerpt of this.#root.querySelectorAll(".excerpt")) showMark(excerpt);
    const move = () => this.#place();
    subject.badge.getRootNode().addEventListener("scroll", move, { capture: true, passive: true, signal });
    addEventListener("scroll", move, { passive: true, signal });
    addEventListener("resize", move, { signal });
    // On the document: the focus may be anywhere while the pointer keeps the card open.
    document.addEventListener("keydown", (event) => this.#dismiss(event), { capture: true, signal });
  }

  /** Closes on Escape before other listeners run: otherwise the panel closes too. */
  #dismiss(event: KeyboardEvent): void {
    if (!this.#root.isConnected) return this.close();
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    const badge = this.#root.matches(":focus-within") ? this.#subject?.badge : undefined;
    this.close();
    this.#isReturning = true;
    badge?.focus({ preventScroll: true });
    this.#isReturning = false;
  }

  /** Moves the card to its badge, or closes it if the badge is out of view. */
  #place(): void {
    const badge = this.#subject?.badge;
    const at = badge?.getBoundingClientRect();
    if (!badge || !at || !isInSight(at, badge.closest("[role=log]"))) return this.close();
    const bounds = boundsOf(badge);
    const { style } = this.#root;
    // Its height depends on its width.
    style.removeProperty("max-block-size");
    style.setProperty("max-inline-size", `${maxCardWidth(bounds)}px`);
    const { offsetWidth: width, offsetHeight: height } = this.#root;
    const place = placeCard(at, { width, height }, bounds, this.#translator.direction);
    style.setProperty("max-block-size", `${place.height}px`);
    style.setProperty("translate", `${place.x}px ${place.y}px`);
  }
}

/** Scrolls an excerpt so that its highlighted words are in view, with as much of the text before them as fits. */
function showMark(excerpt: Element): void {
  const marks = [...excerpt.querySelectorAll("mark")];
  const { top, bottom } = excerpt.getBoundingClientRect();
  const start = (marks[0]?.getBoundingClientRect().top ?? top) - top;
  const end = (marks.at(-1)?.getBoundingClientRect().bottom ?? bottom) - bottom;
  if (end > 0) excerpt.scrollTop += Math.min(start - MARGIN_PX, end + MARGIN_PX);
}

/** Space around highlighted words that are scrolled into view. */
const MARGIN_PX = 8;

const IDS = { title: "citation-card-title", description: "citation-card-description" } as const;

/** The visible part of the widget. */
function boundsOf(badge: HTMLElement): Box {
  const screen = { left: 0, top: 0, right: document.documentElement.clientWidth, bottom: innerHeight };
  const widget = badge.closest('[part~="panel"]')?.getBoundingClientRect();
  return widget ? intersection(widget, screen) : screen;
}

function isInSight(badge: Box, log: Element | null): boolean {
  const seen = log?.getBoundingClientRect();
  return !seen || (badge.bottom > seen.top && badge.top < seen.bottom);
}

/** A rectangle in pixels of the viewport. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The position and the maximum height of a card, in pixels. */
interface CardPlace {
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
