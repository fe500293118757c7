/** Types of the API's JSON, with its field names. */

/** The body of a question. It is idempotent: the same body with the same `message_id` gets the same outcome. */
export interface ChatRequest {
  /** A unit vector of 384 numbers. */
  readonly embedding: readonly number[];
  /** 1 to 4000 characters. */
  readonly message: string;
  /** A UUID that the client generates. */
  readonly message_id: string;
  readonly session_id?: string;
  /** Fingerprint of the model that made the embedding. */
  readonly model: string;
  /** `false` omits markers and sources. Default: `true`. */
  readonly include_citations?: boolean;
}

/** Words that occur verbatim in the cited chunk. */
export interface Quote {
  /** Offsets into the chunk's text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The words as the answer shows them, without Markdown; omitted if they are the same. */
  readonly plain?: string;
}

/** How strong the evidence of a passage is. */
export type EvidenceStrength = "strong" | "good" | "partial";

/** A passage of a document that the user is allowed to read. */
export interface Passage {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly title: string;
  readonly page?: number;
  readonly section?: string;
  /** Always http or https. */
  readonly url?: string;
  readonly content_type?: string;
  /** Cosine similarity of question and passage. */
  readonly score: number;
  /** URL of the document's original file, always http or https. It may need the user's token, or expire. */
  readonly download_url?: string;
}

/**
 * A passage that the answer quotes. `index` is the number of the `[n]` markers; all passages of a document share it.
 */
export interface Citation extends Passage {
  readonly index: number;
  readonly strength?: EvidenceStrength;
  readonly excerpt: string;
  /** At least one. */
  readonly quotes: readonly Quote[];
  /** Set in the history: whether the document is still available. Missing means that it is. */
  readonly available?: boolean;
}

/** A passage near the question that the answer does not quote: not a source, but further reading. */
export interface FoundPassage extends Passage {
  /** Missing in refusals. */
  readonly excerpt?: string;
}

/** Why there is no answer. */
export type RefusalReason = "no_match" | "weak_evidence" | "unreadable_language" | "empty_kb";

/** One event of the answer stream. */
export type ChatEvent =
  | {
      readonly type: "answer_start";
      readonly session_id?: string;
      /** Whether the passages are on the subject but may not answer the question. */
      readonly hedged: boolean;
    }
  | {
      readonly type: "answer_delta";
      /** `[n]` is a marker; the same characters in the source's own text are escaped as `\[n\]`. */
      readonly text: string;
    }
  | {
      readonly type: "sources";
      readonly citations: readonly Citation[];
      /** Other passages near the question that the answer does not quote, the best first. */
      readonly also_found: readonly FoundPassage[];
      readonly referenced_indices: readonly number[];
    }
  | {
      readonly type: "answer_end";
      /** Id of the assistant's message; not the `message_id` of the request. */
      readonly message_id?: string;
      /** Whether question and answer are in the user's history. */
      readonly persisted: boolean;
    }
  | RefusalEvent;

/** A refusal: there is not enough evidence for an answer. */
export interface RefusalEvent {
  readonly type: "refusal";
  readonly message: string;
  readonly suggestions: readonly string[];
  readonly reason: RefusalReason;
  /** The closest passages, the best first. */
  readonly nearest: readonly FoundPassage[];
  readonly session_id?: string;
  readonly persisted: boolean;
}

/** One conversation of the user. */
export interface Session {
  readonly id: string;
  readonly title?: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** ISO 8601; time of the newest message. */
  readonly updated_at: string;
}

/** One message of the history. */
export interface StoredMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** Assistant messages have `[n]` markers, as in the answer stream. */
  readonly content: string;
  readonly citations: readonly Citation[];
  /** Whether the quoted passages are on the subject but may not answer the question. */
  readonly hedged: boolean;
  /** Set if the message is a refusal. */
  readonly refusal?: RefusalReason;
  /** ISO 8601. */
  readonly created_at: string;
}

/** Selects a page of a list; without a cursor, the first one. */
export interface PageRequest {
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** A page of conversations; `next_cursor` is missing on the last one. */
export interface SessionPage {
  readonly sessions: readonly Session[];
  readonly next_cursor?: string;
}

/** A page of messages, possibly fewer than requested; `next_cursor` is missing on the last one. */
export interface MessagePage {
  readonly messages: readonly StoredMessage[];
  readonly next_cursor?: string;
}

/** Whether citations link to the original files, and how. */
export type LinkMode = "none" | "authenticated" | "public";

/** The settings that a client needs. */
export interface ChatConfig {
  readonly greeting?: string;
  readonly suggested_questions: readonly string[];
  /** Whether answers carry markers and sources. */
  readonly citations: boolean;
  readonly link_mode: LinkMode;
  /** Fingerprint of the model of the stored vectors; missing if there are none. */
  readonly model?: string;
  readonly dimensions: number;
  readonly max_message_chars: number;
}
