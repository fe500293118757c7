// Uses the only widget of a page as a visitor does.

export class Widget {
  constructor(page) {
    this.page = page;
    this.host = page.locator("evidence-chat");
  }

  /** The elements with that `data-role`. */
  find(role) {
    return this.host.locator(`[data-role=${role}]`);
  }

  get lastReply() {
    return this.find("assistant").last();
  }

  /** Types a question, sends it and waits until there is a reply, in any state. */
  async ask(question) {
    const replies = await this.find("assistant").count();
    await this.find("input").fill(question);
    await this.find("input").press("Enter");
    await this.find("assistant").nth(replies).waitFor();
  }

  /** Waits until the last reply is in that state. */
  async replyEnds(state, { timeout = 30_000 } = {}) {
    await this.page.waitForFunction(
      (expected) => {
        /** @type {NodeListOf<HTMLElement>} */
        const replies = document.querySelector("evidence-chat").shadowRoot.querySelectorAll("[data-role=assistant]");
        return replies[replies.length - 1]?.dataset.state === expected;
      },
      state,
      { timeout },
    );
  }

  /** Asks and waits until the reply is in that state. */
  async askFor(question, state = "done", options = {}) {
    await this.ask(question);
    await this.replyEnds(state, options);
  }
}
