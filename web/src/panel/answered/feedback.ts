import { type AnswerId, giveFeedback, removeFeedback } from "../../client/api.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Feedback, FeedbackReason, Rating } from "../../client/wire.js";
import { button, element, icon, onEscape } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";

/** The server's limit, in characters. */
const MAX_COMMENT_LENGTH = 1000;

const REASONS: readonly (readonly [FeedbackReason, TextKey])[] = [
  ["wrong", "feedbackWrong"],
  ["incomplete", "feedbackIncomplete"],
  ["off_topic", "feedbackOffTopic"],
  ["outdated", "feedbackOutdated"],
  ["other", "feedbackOther"],
];

/** An answer that the visitor may judge. */
export interface JudgedAnswer {
  readonly id: AnswerId;
  /** The visitor's earlier feedback. */
  readonly feedback: Feedback | undefined;
  /** Where the buttons go: behind those that copy the answer. They may have left the panel while this code was loaded. */
  readonly tools: HTMLElement;
  readonly translator: Translator;
  readonly client: () => ChatClientOptions;
  /** The vector of the question; `undefined` without the model. */
  readonly embedding: () => Promise<readonly number[] | undefined>;
  /** A link to people, if there is an address. */
  readonly contact: () => HTMLElement | undefined;
}

/** Adds two buttons to an answer, and a form below it for why it did not help. */
export function offerFeedback(answer: JudgedAnswer): void {
  new FeedbackView(answer);
}

class FeedbackView {
  readonly #answer: JudgedAnswer;
  readonly #buttons: { readonly [rating in Rating]: HTMLButtonElement };
  readonly #status = element("span", {
    class: "feedback-status small-print",
    role: "status",
    "data-role": "feedback-status",
  });
  #form: HTMLFormElement | undefined;
  /** The shown feedback, which the server has when all requests have ended. */
  #feedback: Feedback | undefined;
  /** The feedback that the server has confirmed. */
  #confirmed: Feedback | undefined;
  /** Requests run one after the other, so that the last one wins. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(answer: JudgedAnswer) {
    this.#answer = answer;
    this.#feedback = this.#confirmed = answer.feedback;
    this.#buttons = { up: this.#button("up", "helpful"), down: this.#button("down", "notHelpful") };
    const { up, down } = this.#buttons;
    const name = answer.translator.t("feedback");
    answer.tools.append(element("span", { class: "feedback", role: "group", "aria-label": name }, up, down));
    answer.tools.after(this.#status);
    this.#show();
  }

  #button(rating: Rating, key: TextKey): HTMLButtonElement {
    const label = this.#answer.translator.t(key);
    return button(
      {
        class: `button quiet feedback-${rating}`,
        "aria-label": label,
        title: label,
        "data-role": `feedback-${rating}`,
      },
      () => this.#press(rating),
      icon(icons.thumb),
    );
  }

  #show(): void {
    for (const rating of ["up", "down"] as const)
      this.#buttons[rating].setAttribute("aria-pressed", String(this.#feedback?.rating === rating));
  }

  /** A second press takes the rating back. */
  #press(rating: Rating): void {
    const isTakenBack = this.#feedback?.rating === rating;
    this.#close();
    void this.#send(isTakenBack ? undefined : { rating }, isTakenBack ? undefined : "feedbackThanks");
    if (rating === "down" && !isTakenBack) this.#ask();
  }

  /** Shows the choice at once, and what the server has if it could not be sent. */
  async #send(feedback: Feedback | undefined, done: TextKey | undefined): Promise<boolean> {
    this.#feedback = feedback;
    this.#show();
    this.#status.replaceChildren();
    const { id, client, embedding } = this.#answer;
    const options = client();
    const request = this.#sending.then(async () => {
      if (!feedback) return removeFeedback(id, options);
      // Counts the question among those that the documents do not answer well.
      const vector = feedback.rating === "down" ? await embedding().catch(() => undefined) : undefined;
      return giveFeedback(id, vector ? { ...feedback, embedding: vector } : feedback, options);
    });
    this.#sending = request.catch(() => undefined);
    try {
      await request;
      this.#confirmed = feedback;
      if (done && this.#feedback === feedback) this.#say(done);
      return true;
    } catch {
      if (this.#feedback === feedback) {
        this.#feedback = this.#confirmed;
        this.#show();
        this.#say("feedbackFailed");
      }
      return false;
    }
  }

  #say(key: TextKey): void {
    this.#status.replaceChildren(this.#answer.translator.t(key).asText());
    if (!this.#form) this.#status.scrollIntoView({ block: "nearest" });
  }

  #ask(): void {
    const { t } = this.#answer.translator;
    const reasons = REASONS.map(([value, key]) =>
      element(
        "label",
        { class: "choice" },
        element("input", { type: "radio", name: "reason", value, "data-role": "feedback-reason" }),
        t(key),
      ),
    );
    const comment = element("textarea", {
      class: "feedback-comment",
      name: "comment",
      rows: 2,
      maxlength: MAX_COMMENT_LENGTH,
      dir: "auto",
      "aria-label": t("feedbackComment"),
      placeholder: t("feedbackComment"),
      "data-role": "feedback-comment",
    });
    const form = element(
      "form",
      { class: "feedback-form raised", "data-role": "feedback-form" },
      element("fieldset", {}, element("legend", {}, t("feedbackWhy")), ...reasons),
      comment,
      element("p", { class: "small-print" }, t("feedbackShared")),
      element(
        "div",
        { class: "row" },
        element("button", { type: "submit", class: "button", "data-role": "feedback-send" }, t("send")),
        button({ class: "button quiet", "data-role": "feedback-cancel" }, () => this.#cancel(), t("notNow")),
        this.#answer.contact(),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#submit(form, comment.value.trim());
    });
    onEscape(form, () => this.#cancel());
    this.#form = form;
    this.#status.after(form);
    form.scrollIntoView({ block: "nearest" });
  }

  async #submit(form: HTMLFormElement, comment: string): Promise<void> {
    const reason = form.querySelector<HTMLInputElement>("input:checked")?.value as FeedbackReason | undefined;
    const feedback = { rating: "down", ...(reason && { reason }), ...(comment && { comment }) } as const;
    // The form stays until its words have arrived.
    if ((await this.#send(feedback, "feedbackThanks")) && this.#form === form) this.#cancel();
  }

  #cancel(): void {
    this.#close();
    this.#buttons.down.focus();
  }

  #close(): void {
    this.#form?.remove();
    this.#form = undefined;
  }
}
