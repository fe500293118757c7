import type { Citation, FoundPassage, RefusalEvent } from "../client/wire.js";

/** The element's events. They do not bubble: an `error` must not reach the page's error trackers. */
export interface EvidenceChatEventMap {
  ready: CustomEvent<{ fingerprint: string }>;
  message: CustomEvent<MessageDetail>;
  refusal: CustomEvent<RefusalEvent>;
  "citation-open": CustomEvent<{ citation: Citation }>;
  stage: CustomEvent<StageDetail>;
  error: CustomEvent<{ code: string; message: string; error: unknown }>;
}

/** A question that was sent, or an answer that is complete. */
export interface MessageDetail {
  readonly role: "user" | "assistant";
  /** What the visitor reads, with the `[n]` markers. */
  readonly text: string;
  /** Whether the passages are about the subject, but may not answer the question. */
  readonly hedged: boolean;
  /** The answer's sources, which it quotes; empty for a question. */
  readonly citations: readonly Citation[];
  /** Other passages near the question, which the answer does not quote. */
  readonly alsoFound: readonly FoundPassage[];
  /** The session in the user's history; `undefined` before the first answer. */
  readonly sessionId: string | undefined;
}

/** A question has come one step further. */
export interface StageDetail {
  readonly stage: "embedding" | "embedded" | "sent" | "first_word" | "complete" | "refused" | "failed";
  /** Since the question was asked. */
  readonly milliseconds: number;
  /** With `embedded`: tokens of the question. */
  readonly tokens?: number;
  /** With `sent`: size of the request's body. */
  readonly requestBytes?: number;
  /** With `first_word` and `refused`: what the server's stages took, in milliseconds, as its `Server-Timing` says. */
  readonly serverTiming?: Readonly<Record<string, number>>;
}

/** Sends one of the element's events. */
export type Dispatch = <K extends keyof EvidenceChatEventMap>(
  type: K,
  detail: EvidenceChatEventMap[K]["detail"],
) => void;
