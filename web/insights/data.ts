import type { SupabaseClient } from "@supabase/supabase-js";
import type { FeedbackReason } from "../src/client/wire.js";

/** The period and the assistant that the reader looks at. */
export interface Scope {
  /** Days including today: 7, 30 or 90. */
  readonly days: number;
  /** Name of an assistant; null for all. */
  readonly assistant: string | null;
}

/** Counts and shares of a period. Shares are 0 to 1; null without any question. */
export interface Totals extends Readonly<Record<`disliked_${FeedbackReason}`, number>> {
  /** `current` for the scope, `previous` for as many days before, or a day in UTC: `2026-11-24`. */
  readonly period: string;
  readonly questions: number;
  readonly answers: number;
  readonly refusals: number;
  readonly cited_answers: number;
  readonly hedged_answers: number;
  readonly generated_answers: number;
  readonly citations_hovered: number;
  readonly citations_opened: number;
  readonly citations_copied: number;
  readonly answered_share: number | null;
  readonly cited_share: number | null;
  /** Milliseconds. */
  readonly latency_p50_ms: number | null;
  readonly latency_p95_ms: number | null;
  /** Answers that visitors liked and disliked. */
  readonly liked: number;
  readonly disliked: number;
  /** Liked among both. */
  readonly liked_share: number | null;
}

/** A group of similar questions without an answer, or with one that visitors disliked. */
export interface Gap {
  readonly group_id: string;
  readonly assistant_name: string;
  readonly questions: number;
  /** Questions of the group that were answered. */
  readonly disliked: number;
  readonly users: number;
  readonly reasons: readonly string[];
  readonly first_asked: string;
  readonly last_asked: string;
  /** At least one question, the most typical first. */
  readonly examples: readonly string[];
}

/** A visitor's comment on an answer. */
export interface Comment {
  readonly feedback_at: string;
  readonly assistant_name: string;
  readonly rating: "up" | "down";
  readonly reason: FeedbackReason | null;
  readonly comment: string;
  readonly question: string | null;
  /** Size of the whole list. */
  readonly total: number;
}

interface ListedDocument {
  readonly document_id: string;
  readonly title: string | null;
  readonly source: string | null;
  readonly url: string | null;
  /** Size of the whole list. */
  readonly total: number;
}

/** A document that answers are based on. */
export interface CitedDocument extends ListedDocument {
  readonly state: "ready" | "disabled" | "deleted";
  readonly times_cited: number;
  readonly last_cited: string;
}

/** A document that no answer of the scope is based on. */
export interface UncitedDocument extends ListedDocument {
  readonly created_at: string;
  readonly last_cited: string | null;
}

/** A document or collection that is not as new as its source. */
export interface Trouble {
  readonly source: string;
  readonly reason: string;
  readonly since: string | null;
}

/** Whether citations still lead to their documents. */
export interface Health {
  readonly citations: number;
  readonly citations_of_ready: number;
  readonly citations_of_disabled: number;
  readonly citations_of_deleted: number;
  readonly documents: number;
  readonly cited_documents: number;
  readonly stale_passages: number;
  readonly outdated: number;
  /** The oldest of them. */
  readonly troubles: readonly Trouble[];
}

export interface Assistant {
  readonly name: string;
  readonly title: string | null;
  readonly enabled: boolean;
}

/** The row of each function. */
interface Rows {
  chat_insights_assistants: Assistant;
  chat_insights: Totals;
  chat_insights_days: Totals;
  chat_insights_gaps: Gap;
  chat_insights_comments: Comment;
  chat_insights_documents: CitedDocument;
  chat_insights_uncited: UncitedDocument;
  chat_insights_health: Health;
}

/** Reads insights; docs/insights.md describes the functions. */
export function readInsights<Name extends keyof Rows>(
  call: CallDatabase,
  name: Name,
  scope?: Scope,
): Promise<Rows[Name][]> {
  return call(name, scope);
}

/** The database refused because the user is no administrator. */
export class ForbiddenError extends Error {}

/** Somebody else has changed the row since it was read. */
export class ConflictError extends Error {}

/** The database does not allow some values. */
export class RejectedError extends Error {
  /** A sentence for each column. */
  readonly problems: Readonly<Record<string, string>>;

  constructor(message: string, problems: Readonly<Record<string, string>>) {
    super(message);
    this.problems = problems;
  }
}

/**
 * Calls a function of the database with the token of the signed-in user. Fails with a {@link ForbiddenError} for
 * users who are no administrators.
 */
export type CallDatabase = <Result>(name: string, parameters?: object) => Promise<Result>;

/** Gives the function that calls the database through a client. */
export function databaseOf(client: SupabaseClient): CallDatabase {
  return async <Result>(name: string, parameters: object = {}) => {
    const { data, error } = (await client.rpc(name, parameters)) as {
      data: Result;
      error: { code?: string; message?: string; details?: string | null } | null;
    };
    if (error) throw errorOf(error);
    return data;
  };
}

function errorOf({ code, message = "", details }: { code?: string; message?: string; details?: string | null }): Error {
  const text = message || "The database did not answer.";
  if (code === "42501") return new ForbiddenError(text);
  if (code === "PT409") return new ConflictError(text);
  if (code === "PT422") return new RejectedError(text, parseProblems(details));
  return new Error(text);
}

function parseProblems(details: string | null | undefined): Record<string, string> {
  try {
    return JSON.parse(details ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}
