/** Sets the colour scheme: the page's `theme`, or the visitor's preference. */
export class ColorScheme {
  readonly #root: HTMLElement;
  readonly #prefersDark = matchMedia("(prefers-color-scheme: dark)");
  readonly #update = () => this.#show();
  #theme = "auto";

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** `light` or `dark`; anything else follows the visitor's preference. */
  set theme(theme: string | null) {
    this.#theme = theme ?? "auto";
    this.#show();
  }

  connect(): void {
    this.#prefersDark.addEventListener("change", this.#update);
    this.#show();
  }

  disconnect(): void {
    this.#prefersDark.removeEventListener("change", this.#update);
  }

  #show(): void {
    const isDark = this.#theme === "dark" || (this.#theme !== "light" && this.#prefersDark.matches);
    this.#root.dataset.scheme = isDark ? "dark" : "light";
  }
}
