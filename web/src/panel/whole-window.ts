import { set } from "../dom/element.js";
import type { PanelHost } from "./host.js";

/** When a floating panel covers the whole window. Same condition as in frame.css. */
const WHOLE_WINDOW = "(max-width: 30rem), (max-height: 30rem)";

const FOCUSABLE = "button:enabled, a[href], summary, input:enabled, select:enabled, textarea:enabled, [tabindex='0']";

/**
 * A floating panel that covers the whole window. It is modal: the focus stays in the panel, because the visitor could not see it on the
 * page beneath. And it gets the visible part of the window where an on-screen keyboard covers some of it; on most devices the window does
 * not shrink.
 */
export class WholeWindow {
  readonly #host: PanelHost;
  readonly #wholeWindow = matchMedia(WHOLE_WINDOW);
  readonly #announcer: HTMLElement;

  /** `announcer` is the live region. A screen reader ignores one outside an open modal dialog. */
  constructor(host: PanelHost, announcer: HTMLElement) {
    this.#host = host;
    this.#announcer = announcer;
    host.frame.panel.addEventListener("keydown", (event) => this.#keepFocus(event));
  }

  /** Follows the window until the signal aborts. */
  connect(signal: AbortSignal): void {
    this.#wholeWindow.addEventListener("change", () => this.update(), { signal });
    this.update();
    const resize = () => this.#showVisibleArea();
    for (const type of ["resize", "scroll"]) globalThis.visualViewport?.addEventListener(type, resize, { signal });
    // Reading the area lays the page out, which the next frame does anyway.
    requestAnimationFrame(resize);
  }

  get #isModal(): boolean {
    return this.#host.frame.root.dataset.mode === "floating" && this.#wholeWindow.matches;
  }

  /** Applies a change of the window size or of the mode. */
  update(): void {
    const { panel, root } = this.#host.frame;
    set(panel, "aria-modal", this.#isModal && "true");
    const home = this.#isModal ? panel : root;
    if (this.#announcer.parentNode !== home) home.append(this.#announcer);
  }

  #keepFocus(event: KeyboardEvent): void {
    if (event.key !== "Tab" || event.defaultPrevented || !this.#isModal) return;
    const all = [...this.#host.frame.panel.querySelectorAll<HTMLElement>(FOCUSABLE)];
    const reachable = all.filter((each) => each.getClientRects().length > 0);
    const [first, last] = [reachable.at(0), reachable.at(-1)];
    const leaves = event.shiftKey ? first : last;
    if (!leaves || this.#host.shadow.activeElement !== leaves) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }

  /** Where nothing is covered it sets nothing, because a change of these properties computes every style in the panel again. */
  #showVisibleArea(): void {
    const { height, offsetTop, scale } = globalThis.visualViewport ?? { height: innerHeight, offsetTop: 0, scale: 1 };
    // Safari can shrink innerHeight with the keyboard.
    const whole = Math.max(innerHeight, document.documentElement.clientHeight);
    // A visitor who pinch-zooms wants to see a part of the panel, not a smaller panel. The heights are rounded differently.
    const isCovered = scale === 1 && (offsetTop > 0 || whole - height > 1);
    const { style } = this.#host.frame.root;
    for (const [property, pixels] of [
      ["--visible-height", height],
      ["--visible-top", offsetTop],
    ] as const) {
      if (isCovered) style.setProperty(property, `${pixels}px`);
      else style.removeProperty(property);
    }
  }
}
