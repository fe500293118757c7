import type { Citation, RefusalEvent } from "../client/wire.js";

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
  /** The answer's sources; empty for a question. */
  readonly citations: readonly Citation[];
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
