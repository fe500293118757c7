type Widget = HTMLElement & { readonly endpoint: string; readonly mode: string };

/** The widget that uses each key. The key of a removed one is free for the next, such as that of the next view of a single-page app. */
const owners = new Map<string, WeakRef<Widget>>();
const ownerOf = (key: string) => owners.get(key)?.deref();

/**
 * Remembers a few words for the next page in the same tab, for each assistant and widget. A widget is identified by its `id`, or else by
 * its mode and its order among the widgets of that mode. The browser deletes the words with the tab. Where it blocks storage, nothing is
 * remembered.
 */
export class TabMemory {
  readonly #chat: Widget;
  #place = "";
  /** Keys that were used: one for each server and assistant that the widget had. */
  readonly #keys = new Set<string>();

  constructor(chat: Widget) {
    this.#chat = chat;
  }

  /** The remembered text; empty if there is none. */
  get text(): string {
    try {
      return sessionStorage.getItem(this.#key()) ?? "";
    } catch {
      return "";
    }
  }

  /** Also forgets what was remembered for another server or assistant. */
  set text(text: string) {
    const present = this.#key();
    try {
      for (const key of this.#keys) if ((ownerOf(key) ?? this.#chat) === this.#chat) sessionStorage.removeItem(key);
      if (text) sessionStorage.setItem(present, text);
    } catch {
      // Blocked or full.
    }
  }

  #key(): string {
    const { endpoint, id, mode } = this.#chat;
    const name = `evidence-chat:tab:${endpoint} ${this.#chat.getAttribute("assistant") ?? ""} ${id}\n`;
    // Until endpoint or assistant change: the order of the others may change, and a page may switch the mode of a conversation. While this
    // one was removed, another may have taken its key.
    const isOwner = ownerOf(this.#place) === this.#chat;
    if (!id && !(isOwner && this.#place.startsWith(name))) {
      if (isOwner) owners.delete(this.#place);
      let order = 0;
      do this.#place = `${name}${mode} ${order++}`;
      while (ownerOf(this.#place)?.isConnected);
      owners.set(this.#place, new WeakRef(this.#chat));
    }
    const key = id ? name : this.#place;
    this.#keys.add(key);
    return key;
  }
}
