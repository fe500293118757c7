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
  readonly #announcer: HTMLElement;
  readonly #update = () => this.update();

  /** `announcer` is what a screen reader listens to: of a modal dialog it hears nothing that is outside. */
  constructor(frame: Frame, shadow: ShadowRoot, announcer: HTMLElement) {
    this.#frame = frame;
    this.#shadow = shadow;
    this.#announcer = announcer;
    frame.panel.addEventListener("keydown", (event) => this.#keepFocus(event));
  }

  connect(): void {
    this.#wholeWindow.addEventListener("change", this.#update);
    this.update();
  }

  disconnect(): void {
    this.#wholeWindow.removeEventListener("change", this.#update);
  }

  get #isModal(): boolean {
    return this.#frame.root.dataset.mode === "floating" && this.#wholeWindow.matches;
  }

  /** The window, or the mode, is another. */
  update(): void {
    set(this.#frame.panel, "aria-modal", this.#isModal && "true");
    const home = this.#isModal ? this.#frame.panel : this.#frame.root;
    if (this.#announcer.parentNode !== home) home.append(this.#announcer);
  }

  #keepFocus(event: KeyboardEvent): void {
    if (event.key !== "Tab" || event.defaultPrevented || !this.#isModal) return;
    const all = [...this.#frame.panel.querySelectorAll<HTMLElement>(FOCUSABLE)];
    const reachable = all.filter((each) => each.getClientRects().length > 0);
    const [first, last] = [reachable.at(0), reachable.at(-1)];
    const leaves = event.shiftKey ? first : last;
    if (!leaves || this.#shadow.activeElement !== leaves) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }
}
