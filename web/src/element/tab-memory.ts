/**
 * A few words that a tab remembers for the next page, for each assistant. The browser forgets them with the tab. Where it blocks storage,
 * nothing is remembered.
 */
export class TabMemory {
  readonly #key: () => string;

  constructor(chat: HTMLElement & { readonly endpoint: string }) {
    this.#key = () => `evidence-chat:tab:${chat.endpoint} ${chat.getAttribute("assistant") ?? ""}`;
  }

  /** What is remembered; empty if there is nothing. */
  get text(): string {
    try {
      return sessionStorage.getItem(this.#key()) ?? "";
    } catch {
      return "";
    }
  }

  set text(text: string) {
    try {
      sessionStorage.setItem(this.#key(), text);
    } catch {
      // Blocked or full.
    }
  }
}
