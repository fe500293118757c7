/** Types of the API's JSON, with its field names. */

/** The body of a question. It is idempotent: the same body with the same `message_id` gets the same outcome, whatever its `reading`. */
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
  /** The question before this one, or the `searched` of its outcome, so that a follow-up such as "And to Norway?" is understood. */
  readonly previous?: {
    readonly message: string;
    /** The vector of the question, a space and this message together. */
    readonly embedding: readonly number[];
  };
  /** The reader's scores of the passages that `searchStatements` has found. */
  readonly reading?: Reading;
  /** `true`: the message has more tokens than the model reads, so the embedding is that of its beginning. */
  readonly truncated?: boolean;
  /** Asks for quotes even if the site lets a language model write answers. */
  readonly mode?: "extractive";
}

/** The body of a search while a question is typed. */
export interface SearchRequest {
  /** A unit vector of 384 numbers. */
  readonly embedding: readonly number[];
  /** The text so far: 1 to 4000 characters. */
  readonly query: string;
  /** Fingerprint of the model that made the embedding. */
  readonly model: string;
  /** The most results, 1 to 10. Default: 5. */
  readonly limit?: number;
}

/** The body of a search for the passages that answer a question, to read them before it is sent. */
export interface StatementsRequest extends Omit<SearchRequest, "limit"> {
  /** The `previous` of the question. */
  readonly previous?: ChatRequest["previous"];
}

/** The passages to read: at most 5, in the order in which the question ranks them. */
export interface FoundStatements {
  /** The text to read with each passage: the question, or both it and the question before. */
  readonly question: string;
  readonly passages: readonly PassageStatements[];
}

/** The statements of a passage. */
export interface PassageStatements {
  readonly chunk_id: string;
  /** 16 hex digits, of heading and statements. */
  readonly hash: string;
  /** Title and section of its document. */
  readonly heading: string;
  /** 1 to 400. */
  readonly statements: readonly string[];
}

/** A reader's scores of passages. */
export interface Reading {
  /** Fingerprint of the reader. */
  readonly reader: string;
  /** At most 5, each once. */
  readonly passages: readonly {
    readonly chunk_id: string;
    readonly hash: string;
    /** For each statement, from -100 to 100: above 0, it is more likely the answer than that the passage has none. `null`: not read. */
    readonly z: readonly (number | null)[];
  }[];
}

/** The basis of the outcome and of the choice of statements: the search alone, or with the reader's scores. */
export type DecidedBy = "reader" | "search";

/** The author of an answer's words: the documents, which it quotes, or a language model. */
export type AnswerMode = "extractive" | "generated";

/** Words that occur verbatim in the cited chunk. */
export interface Quote {
  /** Offsets into the chunk's text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** `sentence`, `row` (a tab separates its cells) or `code`. */
  readonly kind?: string;
  /** The words as the answer shows them, with what gives them their meaning; omitted if they are the same. */
  readonly plain?: string;
  /** The shown words in pieces, without the punctuation between them. */
  readonly pieces: readonly QuotePiece[];
  /** The words with all that gives them their meaning; omitted if the answer shows all of it with them. */
  readonly whole?: string;
}

/** A piece of a quote as the answer shows it. */
export interface QuotePiece {
  /** Verbatim words of the document. */
  readonly text: string;
  /**
   * Why the words belong to the quote, whose `text` does not have them: `notice`, `heading`, `question`, `label`, `lead_in`, `parent`,
   * `group`, `row_label`, `column`, `antecedent`, `exception` or `condition`. Missing for words of `text`.
   */
  readonly role?: string;
}

/** The layout of a passage's text. All offsets are in UTF-16 code units of its `excerpt`. */
export interface PassageLayout {
  /** In order, disjoint. */
  readonly blocks: readonly PassageBlock[];
  /** In order; they may contain each other. */
  readonly marks?: readonly PassageMark[];
}

/** A paragraph, an item of a list, a row of a table, … Items that follow each other are one list, rows one table. */
export interface PassageBlock {
  readonly kind: "paragraph" | "heading" | "question" | "label" | "item" | "row" | "code";
  readonly start: number;
  readonly end: number;
  /** Where the text of an item begins, after its marker. */
  readonly text?: number;
  /** Depth of an item, from 0; of another block inside an item, one more than that of the item. Missing outside of items. */
  readonly depth?: number;
  /** Start and end of each cell of a row. */
  readonly cells?: readonly (readonly [start: number, end: number])[];
  /** Whether the cells of a row are names of columns. */
  readonly is_header?: boolean;
}

/** Words of a block that are code, a link, emphasised, or the number of a footnote. */
export interface PassageMark {
  readonly kind: "code" | "link" | "emphasis" | "strong" | "reference";
  readonly start: number;
  readonly end: number;
}

/** Words of a cited chunk from which a sentence of a generated answer follows. */
export interface Support {
  /** Offsets into the chunk's text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Position of the supported sentence in the answer, from 0. Each sentence is one `answer_delta`. */
  readonly sentence: number;
}

/** The strength of a passage's evidence. */
export type EvidenceStrength = "strong" | "good" | "partial";

/** A passage near a question, of a document that the user may read. Alone it is further reading, not a source. */
export interface FoundPassage {
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
  /** The whole passage, as plain text. Missing in refusals. */
  readonly excerpt?: string;
  readonly blocks?: PassageLayout;
}

/**
 * A passage that the answer quotes, or that supports a generated answer. `index` is the number of the `[n]` markers; all passages of a document share it.
 */
export interface Citation extends FoundPassage {
  readonly index: number;
  readonly strength?: EvidenceStrength;
  readonly excerpt: string;
  /** At least one; empty in a generated answer. */
  readonly quotes: readonly Quote[];
  /** Only in a generated answer. */
  readonly supports?: readonly Support[];
  /** Set in the history: whether the document is still available. Missing means that it is. */
  readonly available?: boolean;
}

/** A passage that fits a text which is being typed: a place to look, not an answer. It has no `download_url`. */
export interface SearchResult extends FoundPassage {
  readonly excerpt: string;
  /** The best statement. */
  readonly quotes: readonly Quote[];
}

/** Why a sentence of the language model was left out of an answer. */
export type DropReason = "number" | "name" | "quote" | "link" | "polarity" | "order" | "unsupported";

/** Why an answer that a language model was to write consists of quotes. */
export type GenerationFallback = "timeout" | "error" | "unsupported" | "budget" | "declined";

/** Reports on the writing of an answer. */
export interface GenerationReport {
  /** Name of the language model. */
  readonly model: string;
  /** Number of sentences that were sent. */
  readonly sentences: number;
  /** Number of quotes that follow them, because they do not say them. */
  readonly quotes?: number;
  /** Number of sentences that were left out, by reason. */
  readonly dropped: { readonly [reason in DropReason]?: number };
  /** Number of markers of the model that named no source. */
  readonly invalid_markers: number;
  /** Number of sentences that cite another source than the model did. */
  readonly repaired_citations: number;
  /** Missing if the model wrote the answer. */
  readonly fallback?: GenerationFallback;
  /** Set if the answer ends before the model had finished it. */
  readonly cut?: true;
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
}

/** Why there is no answer. */
export type RefusalReason = "no_match" | "weak_evidence" | "unreadable_language" | "no_access" | "empty_kb";

/** The searched text, if it differs from the question. */
export interface Searched {
  /** The question together with the one before it, if the outcome is that of both. */
  readonly searched?: string;
  /** Set if the model read only the beginning of the question. */
  readonly truncated?: true;
}

/** One event of the answer stream. */
export type ChatEvent =
  | {
      /** A language model writes, and its sentences are checked. Sent before the answer, if at all. */
      readonly type: "progress";
      readonly stage: "writing";
    }
  | {
      readonly type: "answer_start";
      readonly session_id?: string;
      /** Whether the passages are on the subject but may not answer the question. */
      readonly hedged: boolean;
      /** Missing means extractive. */
      readonly mode?: AnswerMode;
    }
  | {
      readonly type: "answer_delta";
      /**
       * In a generated answer, one sentence with its markers. `[n]` is a marker; the same characters in the source's own
       * text are escaped as `\[n\]`.
       */
      readonly text: string;
    }
  | {
      readonly type: "sources";
      readonly citations: readonly Citation[];
      /** Other passages near the question that the answer does not quote, the best first. */
      readonly also_found: readonly FoundPassage[];
      readonly referenced_indices: readonly number[];
    }
  | (Searched & {
      readonly type: "answer_end";
      /** Id of the assistant's message; not the `message_id` of the request. */
      readonly message_id?: string;
      /** Whether question and answer are in the user's history; `false` if that is not known. */
      readonly persisted: boolean;
      /** Set if a language model was to write the answer. */
      readonly generation?: GenerationReport;
      readonly decided_by?: DecidedBy;
    })
  | RefusalEvent;

/** An action that the visitor can take after a refusal. */
export type Suggestion =
  | {
      /** Write to people. */
      readonly type: "contact";
      /** The text to show, in English. */
      readonly text: string;
      /** Where, if the owner has set it: `https:` or `mailto:`. */
      readonly url?: string;
    }
  | {
      /** Ask in other words. */
      readonly type: "rephrase";
      readonly text: string;
    }
  | {
      /** Ask this other question. */
      readonly type: "ask";
      readonly text: string;
    };

/** A refusal: there is not enough evidence for an answer. */
export interface RefusalEvent extends Searched {
  readonly type: "refusal";
  readonly message: string;
  readonly suggestions: readonly Suggestion[];
  readonly reason: RefusalReason;
  /** The closest passages, the best first. */
  readonly nearest: readonly FoundPassage[];
  readonly session_id?: string;
  readonly persisted: boolean;
  readonly decided_by?: DecidedBy;
}

/** One conversation of the user. */
export interface Session {
  readonly id: string;
  /** The assistant that answers in it. */
  readonly assistant?: string;
  readonly title?: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** ISO 8601; time of the newest message. */
  readonly updated_at: string;
}

/** One message of the history. */
export interface StoredMessage extends Searched {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** Assistant messages have `[n]` markers, as in the answer stream. */
  readonly content: string;
  readonly citations: readonly Citation[];
  /** Whether the quoted passages are on the subject but may not answer the question. */
  readonly hedged: boolean;
  /** Missing means extractive. */
  readonly mode?: AnswerMode;
  /** Set if a written answer ends before the model had finished it. */
  readonly cut?: true;
  /** Set if the message is a refusal. */
  readonly refusal?: RefusalReason;
  /** The visitor's opinion of an answer, if there is one. */
  readonly feedback?: Feedback;
  /** ISO 8601. */
  readonly created_at: string;
}

/** Whether an answer helped. */
export type Rating = "up" | "down";

/** Why an answer did not help; `off_topic` answers another question. */
export type FeedbackReason = "wrong" | "incomplete" | "off_topic" | "outdated" | "other";

/** A visitor's opinion of an answer. */
export interface Feedback {
  readonly rating: Rating;
  /** Only with the rating `down`. */
  readonly reason?: FeedbackReason;
  /** The visitor's own words, at most 1,000 characters. */
  readonly comment?: string;
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

/** The author of a site's answers: the documents, or a language model of a service or on the visitor's device. */
export type AnswerSetting = "extractive" | "endpoint" | "on_device";

/** The settings that a client needs. */
export interface ChatConfig {
  /** Heading of the chat. */
  readonly title?: string;
  readonly greeting?: string;
  readonly suggested_questions: readonly string[];
  /** Where visitors contact people: `https:` or `mailto:`. */
  readonly support_url?: string;
  /** Whether answers carry markers and sources. */
  readonly citations: boolean;
  readonly link_mode: LinkMode;
  readonly answer_mode: AnswerSetting;
  /** The service that gets a question and the passages found for it; only with `endpoint`. */
  readonly sends_to?: string;
  /** Where visitors without an account are signed in, if the owner allows it. */
  readonly anonymous?: {
    readonly supabase_url: string;
    readonly publishable_key: string;
    readonly turnstile_site_key?: string;
  };
  /** Fingerprint of the model of the stored vectors; missing if there are none. */
  readonly model?: string;
  readonly dimensions: number;
  readonly max_message_chars: number;
}
