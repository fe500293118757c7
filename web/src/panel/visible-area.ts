/**
 * Gives the style sheet the visible part of the window. An on-screen keyboard covers some of it, and on most devices
 * the window does not shrink.
 */
export class VisibleArea {
  readonly #root: HTMLElement;
  readonly #update = () => this.#show();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  connect(): void {
    for (const type of ["resize", "scroll"]) globalThis.visualViewport?.addEventListener(type, this.#update);
    // Reading the area lays the page out, which the next frame does anyway.
    requestAnimationFrame(this.#update);
  }

  disconnect(): void {
    for (const type of ["resize", "scroll"]) globalThis.visualViewport?.removeEventListener(type, this.#update);
  }

  #show(): void {
    const { height, offsetTop, scale } = globalThis.visualViewport ?? { height: 0, offsetTop: 0, scale: 0 };
    // A visitor who pinch-zooms wants to see a part of the panel, not a smaller panel.
    const isZoomed = scale !== 1;
    this.#root.style.setProperty("--visible-height", isZoomed ? "100dvh" : `${height}px`);
    this.#root.style.setProperty("--visible-top", isZoomed ? "0px" : `${offsetTop}px`);
  }
}
