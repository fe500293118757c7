import { set } from "../dom/element.js";
import type { Frame } from "../element/frame.js";

/** When a floating panel covers the whole window. Same condition as in frame.css. */
const WHOLE_WINDOW = "(max-width: 30rem), (max-height: 30rem)";

const FOCUSABLE = "button:enabled, a[href], summary, input:enabled, select:enabled, textarea:enabled, [tabindex='0']";

/**
 * Makes a floating panel modal while it covers the whole window: the focus then stays in the panel, because the visitor
 * could not see it on the page beneath.
 */
export class Modality {
  readonly #frame: Frame;
  readonly #shadow: ShadowRoot;
  readonly #wholeWindow = matchMedia(WHOLE_WINDOW);
  readonly #announcer: HTMLElement;
  readonly #update = () => this.update();

  /** `announcer` is the live region. A screen reader ignores one outside an open modal dialog. */
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

  /** Applies a change of the window size or of the mode. */
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
