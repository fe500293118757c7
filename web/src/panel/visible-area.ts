/**
 * Tells the style sheet which part of the window can be seen: a keyboard on the screen covers some of it, and on most
 * devices the window does not get smaller for that.
 */
export class VisibleArea {
  readonly #root: HTMLElement;
  readonly #update = () => this.#show();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  connect(): void {
    for (const type of ["resize", "scroll"]) globalThis.visualViewport?.addEventListener(type, this.#update);
    this.#show();
  }

  disconnect(): void {
    for (const type of ["resize", "scroll"]) globalThis.visualViewport?.removeEventListener(type, this.#update);
  }

  #show(): void {
    const { height, offsetTop, scale } = globalThis.visualViewport ?? { height: 0, offsetTop: 0, scale: 0 };
    // Who zooms in with two fingers wants to see a part of the panel, not a smaller panel.
    const isWhole = scale !== 1;
    this.#root.style.setProperty("--visible-height", isWhole ? "100dvh" : `${height}px`);
    this.#root.style.setProperty("--visible-top", isWhole ? "0px" : `${offsetTop}px`);
  }
}
