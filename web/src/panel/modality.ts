import { set } from "../dom/element.js";
import type { Frame } from "../element/frame.js";

/** Where a floating panel takes the whole window: the same condition stands in frame.css. */
const WHOLE_WINDOW = "(max-width: 30rem), (max-height: 30rem)";

const FOCUSABLE = "button:enabled, a[href], summary, input:enabled, select:enabled, textarea:enabled, [tabindex='0']";

/**
 * A floating panel leaves the page usable, until it covers all of it: then the focus stays in the panel, since nobody
 * could see where it is on the page beneath.
 */
export class Modality {
  readonly #frame: Frame;
  readonly #shadow: ShadowRoot;
  readonly #wholeWindow = matchMedia(WHOLE_WINDOW);
  readonly #update = () => this.#show();

  constructor(frame: Frame, shadow: ShadowRoot) {
    this.#frame = frame;
    this.#shadow = shadow;
    frame.panel.addEventListener("keydown", (event) => this.#keepFocus(event));
  }

  connect(): void {
    this.#wholeWindow.addEventListener("change", this.#update);
    this.#show();
  }

  disconnect(): void {
    this.#wholeWindow.removeEventListener("change", this.#update);
  }

  get #isModal(): boolean {
    return this.#frame.root.dataset.mode === "floating" && this.#wholeWindow.matches;
  }

  #show(): void {
    set(this.#frame.panel, "aria-modal", this.#isModal && "true");
  }

  #keepFocus(event: KeyboardEvent): void {
    if (event.key !== "Tab" || event.defaultPrevented || !this.#isModal) return;
    const all = [...this.#frame.panel.querySelectorAll<HTMLElement>(FOCUSABLE)];
    const reachable = all.filter((each) => each.checkVisibility({ visibilityProperty: true }));
    const [first, last] = [reachable.at(0), reachable.at(-1)];
    const leaves = event.shiftKey ? first : last;
    if (!leaves || this.#shadow.activeElement !== leaves) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }
}
