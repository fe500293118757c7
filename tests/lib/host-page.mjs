// Pages with the widget on the origin of the demo page, which its Worker allows.

/** The widget on an otherwise empty page, added as a site's own code would add it. */
export class HostPage {
  static async prepare(page, demo) {
    const host = new HostPage(page, demo);
    await host.route();
    return host;
  }

  constructor(page, demo) {
    this.page = page;
    this.demo = demo;
    this.origin = new URL(demo.info.page_url).origin;
  }

  /** Serves the pages `/host/…`: `blank` has no script of the widget, `widget` has no text. */
  route() {
    return this.page.route(`${this.origin}/host/**`, (route) => {
      const name = new URL(route.request().url()).pathname.slice("/host/".length);
      const words = name === "widget" ? "" : "<h1>A page</h1><p>With a few words.</p>";
      return route.fulfill({ contentType: "text/html", body: html(name !== "blank", words) });
    });
  }

  /** Opens a page with the element; its `tokenProvider` returns `token`. */
  async open(
    /** @type {{ token?: string, attributes?: Record<string, string>, isDark?: boolean }} */ {
      token,
      attributes = {},
      isDark = false,
    } = {},
  ) {
    await this.page.goto(`${this.origin}/host/widget`);
    await this.page.evaluate(
      ({ token, endpoint, attributes, isDark }) => {
        // As in a new tab: no conversation of the page before.
        sessionStorage.clear();
        if (isDark) document.documentElement.style.background = "#0d0f14";
        document.body.style.margin = "0";
        const chat = document.createElement("evidence-chat");
        chat.setAttribute("endpoint", endpoint);
        for (const [name, value] of Object.entries(attributes)) chat.setAttribute(name, value);
        chat.style.height = "640px";
        chat.style.padding = "10px";
        chat.tokenProvider = async () => token ?? null;
        document.body.append(chat);
      },
      { token, endpoint: this.demo.info.chat_url, attributes, isDark },
    );
  }

  /** Starts to load panel and model. */
  preload() {
    return this.page.evaluate(() => {
      const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
      chat.setAttribute("preload", "");
    });
  }

  /** Loads panel and model, and waits for them. */
  async ready() {
    await this.page.evaluate(async () => {
      const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
      const ready = new Promise((resolve) => chat.addEventListener("ready", resolve, { once: true }));
      chat.setAttribute("preload", "");
      await ready;
    });
  }

  /** Asks, and resolves with the milliseconds until the frame that shows the first word, and until the end. */
  ask(question, timeoutMs = 20_000) {
    return this.page.evaluate(
      async ({ text, timeoutMs }) => {
        const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
        const root = /** @type {ShadowRoot} */ (chat.shadowRoot);
        const log = /** @type {Element} */ (root.querySelector("[data-role=log]"));
        /** @returns {NodeListOf<HTMLElement>} */
        const replies = () => root.querySelectorAll("[data-role=assistant]");
        const before = replies().length;
        const input = /** @type {HTMLTextAreaElement} */ (root.querySelector("[data-role=input]"));
        input.value = text;
        input.dispatchEvent(new Event("input"));
        // Nobody types and sends in one task.
        await new Promise((resolve) => setTimeout(resolve));
        const start = performance.now();
        const firstWord = new Promise((resolve) => {
          const isThere = () =>
            replies()[before]?.querySelector("[data-role=answer], [data-role=refusal]")?.textContent.trim();
          const observer = new MutationObserver(() => {
            if (!isThere()) return;
            observer.disconnect();
            // The frame after the change is the one that shows it.
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
          });
          observer.observe(log, { childList: true, subtree: true, characterData: true });
        });
        input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
        const firstWordMs = await Promise.race([
          firstWord,
          new Promise((_, reject) => setTimeout(() => reject(new Error(`no answer to “${text}”`)), timeoutMs)),
        ]);
        while (chat.dataset.state === "busy") await new Promise((resolve) => setTimeout(resolve, 5));
        const reply = replies()[before];
        return { firstWordMs, completeMs: performance.now() - start, state: reply.dataset.state };
      },
      { text: question, timeoutMs },
    );
  }
}

function html(hasWidget, words) {
  const script = hasWidget ? '<script type="module" src="/widget/evidence-chat.js"></script>' : "";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Bench</title>${script}</head><body>${words}</body></html>`;
}
