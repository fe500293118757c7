import type { AnswerMode, Citation, FoundPassage, GenerationReport, RefusalEvent } from "../client/wire.js";

/** The element's events. They do not bubble, because an `error` must not reach the page's error trackers. */
export interface EvidenceChatEventMap {
  ready: CustomEvent<{ fingerprint: string }>;
  message: CustomEvent<MessageDetail>;
  refusal: CustomEvent<RefusalEvent>;
  contact: CustomEvent<ContactDetail>;
  "citation-open": CustomEvent<{ citation: Citation }>;
  stage: CustomEvent<StageDetail>;
  error: CustomEvent<{ code: string; message: string; error: unknown }>;
}

/** A question that was sent, or an answer that is complete. */
export interface MessageDetail {
  readonly role: "user" | "assistant";
  /** The visible text, with its `[n]` markers. */
  readonly text: string;
  /** The author of the answer; `extractive` for a question. */
  readonly mode: AnswerMode;
  /** Set if a language model was to write the answer. */
  readonly generation?: GenerationReport;
  /** Whether the passages are on the subject but may not answer the question. */
  readonly hedged: boolean;
  /** The sources that the answer quotes or follows from; empty for a question. */
  readonly citations: readonly Citation[];
  /** Other passages near the question that the answer does not quote. */
  readonly alsoFound: readonly FoundPassage[];
  /** The session in the user's history; `undefined` before the first answer. */
  readonly sessionId: string | undefined;
}

/** The visitor wants to contact people. Without `preventDefault()`, the widget opens the address of `support-url`. */
export interface ContactDetail {
  /** The question that was not answered, or not well. */
  readonly question: string;
  /** The session in the user's history; `undefined` if the question is not in it. */
  readonly sessionId: string | undefined;
}

/** A question reached the next stage. */
export interface StageDetail {
  readonly stage: "embedding" | "embedded" | "sent" | "writing" | "first_word" | "complete" | "refused" | "failed";
  /** Time since the question was asked. */
  readonly milliseconds: number;
  /** With `embedded`: number of the question's tokens. */
  readonly tokens?: number;
  /** With `sent`: size of the request body. */
  readonly requestBytes?: number;
  /** With `first_word` and `refused`: duration of each stage on the server in milliseconds, from `Server-Timing`. */
  readonly serverTiming?: Readonly<Record<string, number>>;
}

/** Dispatches one of the element's events. Gives `false` if the page prevented its default. */
export type Dispatch = <K extends keyof EvidenceChatEventMap>(
  type: K,
  detail: EvidenceChatEventMap[K]["detail"],
) => boolean;
