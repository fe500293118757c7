/**
 * Gives the style sheet the visible part of the window where an on-screen keyboard covers some of it; on most devices the window does
 * not shrink. Where nothing is covered it sets nothing, because a change of these properties computes every style in the panel again.
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
    const { height, offsetTop, scale } = globalThis.visualViewport ?? { height: innerHeight, offsetTop: 0, scale: 1 };
    // Safari can shrink innerHeight with the keyboard.
    const whole = Math.max(innerHeight, document.documentElement.clientHeight);
    // A visitor who pinch-zooms wants to see a part of the panel, not a smaller panel. The heights are rounded differently.
    const isCovered = scale === 1 && (offsetTop > 0 || whole - height > 1);
    this.#set("--visible-height", isCovered && `${height}px`);
    this.#set("--visible-top", isCovered && `${offsetTop}px`);
  }

  #set(property: string, value: string | false): void {
    if (value) this.#root.style.setProperty(property, value);
    else this.#root.style.removeProperty(property);
  }
}
