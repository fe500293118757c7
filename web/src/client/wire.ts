/** The wire types of the API. Field names are the wire's own. */

/** The body of a question. Sending the same body with the same `message_id` again gets the same outcome, once. */
export interface ChatRequest {
  /** 384 numbers of unit length. */
  readonly embedding: readonly number[];
  /** 1 to 4000 characters. */
  readonly message: string;
  /** UUID made by the client. */
  readonly message_id: string;
  readonly session_id?: string;
  /** Fingerprint of the model that made the embedding. */
  readonly model: string;
  /** `false` leaves out markers and sources; `true` if it is not given. */
  readonly include_citations?: boolean;
}

/** Words that stand verbatim in the cited chunk. */
export interface Quote {
  /** Offsets into the chunk's text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The words as they stand in the answer, without Markdown; given only where that makes a difference. */
  readonly plain?: string;
}

/** How good the evidence of a passage is, in a word. */
export type EvidenceStrength = "strong" | "good" | "partial";

/** A passage of a document that the user may read. */
export interface Passage {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly title: string;
  readonly page?: number;
  readonly section?: string;
  /** Only ever http or https. */
  readonly url?: string;
  readonly content_type?: string;
  /** Cosine similarity of question and passage. */
  readonly score: number;
  /** The document's original file; it may need the user's token, or expire. Only ever http or https. */
  readonly download_url?: string;
}

/** A passage that the answer quotes. Passages of one document share an `index`, the number of the answer's `[n]` markers. */
export interface Citation extends Passage {
  readonly index: number;
  readonly strength?: EvidenceStrength;
  readonly excerpt: string;
  /** At least one. */
  readonly quotes: readonly Quote[];
  /** Given in the history: whether the document can still be seen. Missing means that it can. */
  readonly available?: boolean;
}

/** A passage near the question that is not quoted, and so is no source: where to read on. */
export interface FoundPassage extends Passage {
  /** Left out of refusals. */
  readonly excerpt?: string;
}

/** Why there is no answer. */
export type RefusalReason = "no_match" | "weak_evidence" | "unreadable_language" | "empty_kb";

/** One event of the answer stream. */
export type ChatEvent =
  | {
      readonly type: "answer_start";
      readonly session_id?: string;
      /** Whether the passages are about the subject, but may not answer the question. */
      readonly hedged: boolean;
    }
  | {
      readonly type: "answer_delta";
      /** `[n]` is a marker; where the source itself has such words, they come as `\[n\]`. */
      readonly text: string;
    }
  | {
      readonly type: "sources";
      readonly citations: readonly Citation[];
      /** Other passages near the question, the best first; the answer does not quote them. */
      readonly also_found: readonly FoundPassage[];
      readonly referenced_indices: readonly number[];
    }
  | {
      readonly type: "answer_end";
      /** Id of the assistant's message, not of the request. */
      readonly message_id?: string;
      /** Whether question and answer are in the user's history. */
      readonly persisted: boolean;
    }
  | RefusalEvent;

/** There is not enough evidence for an answer. */
export interface RefusalEvent {
  readonly type: "refusal";
  readonly message: string;
  readonly suggestions: readonly string[];
  readonly reason: RefusalReason;
  /** The passages that came closest, the best first. */
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
  /** ISO 8601; when its newest message came. */
  readonly updated_at: string;
}

/** One message of the history. */
export interface StoredMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** An assistant's has `[n]` markers, as in the answer stream. */
  readonly content: string;
  readonly citations: readonly Citation[];
  /** Whether the quoted passages are about the subject, but may not answer the question. */
  readonly hedged: boolean;
  /** Set if the message refuses an answer. */
  readonly refusal?: RefusalReason;
  /** ISO 8601. */
  readonly created_at: string;
}

/** Which page of a list; the first one without a cursor. */
export interface PageRequest {
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** A page of conversations; `next_cursor` leads to the next one, if there is one. */
export interface SessionPage {
  readonly sessions: readonly Session[];
  readonly next_cursor?: string;
}

/** A page of messages, perhaps fewer than asked for; `next_cursor` leads to the next one, if there is one. */
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
  /** Fingerprint of the model of the stored vectors; missing while there are none. */
  readonly model?: string;
  readonly dimensions: number;
  readonly max_message_chars: number;
}
