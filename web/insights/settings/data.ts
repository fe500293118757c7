import type { SupabaseClient } from "@supabase/supabase-js";
import { ForbiddenError } from "../data.js";

/** The value of a setting. `null` stands for its default. */
export type Value = string | number | boolean | null | readonly string[];

/** A row of `assistants` or `chat_settings`. */
export interface Row {
  readonly [column: string]: Value | undefined;
  /** Names the version of the row: verbatim, because it has microseconds. */
  readonly updated_at: string;
}

export interface AssistantRow extends Row {
  readonly name: string;
  readonly title: string | null;
  readonly enabled: boolean;
  /** Whether it has conversations or refused questions, and so cannot be deleted. */
  readonly has_conversations: boolean;
}

export interface AllSettings {
  /** `null` if the table has no row. */
  readonly settings: (Row & { readonly has_alert_url: boolean }) | null;
  /** The assistant `default` first. */
  readonly assistants: readonly AssistantRow[];
}

/** New values by column. */
export type Changes = Readonly<Record<string, Value>>;

/** An entry of the audit trail. */
export interface Change {
  readonly id: number;
  readonly changed_at: string;
  readonly changed_by: string;
  readonly relation: "assistants" | "chat_settings" | "kb_documents";
  readonly name: string;
  readonly operation: "insert" | "update" | "delete";
  readonly column_name: string | null;
  readonly old_value: Value;
  readonly new_value: Value;
}

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

/** Reads and changes settings with the token of the signed-in administrator; docs/settings.md describes the functions. */
export class Administration {
  readonly #client: SupabaseClient;

  constructor(client: SupabaseClient) {
    this.#client = client;
  }

  read(): Promise<AllSettings> {
    return this.#call("chat_read_settings", {});
  }

  updateSettings(changes: Changes, row: Row): Promise<void> {
    return this.#call("chat_update_settings", { changes, expected_updated_at: row.updated_at });
  }

  updateAssistant(assistant: string, changes: Changes, row: Row): Promise<void> {
    return this.#call("chat_update_assistant", { assistant, changes, expected_updated_at: row.updated_at });
  }

  addAssistant(assistant: string, changes: Changes): Promise<void> {
    return this.#call("chat_add_assistant", { assistant, changes });
  }

  deleteAssistant({ name, updated_at }: AssistantRow): Promise<void> {
    return this.#call("chat_delete_assistant", { assistant: name, expected_updated_at: updated_at });
  }

  changes(maxCount: number, beforeId: number | null): Promise<Change[]> {
    return this.#call("chat_insights_changes", { max_count: maxCount, before_id: beforeId });
  }

  async #call<Result>(name: string, parameters: object): Promise<Result> {
    const { data, error } = (await this.#client.rpc(name, parameters)) as {
      data: Result;
      error: { code?: string; message?: string; details?: string | null } | null;
    };
    if (!error) return data;
    const message = error.message || "The database did not answer.";
    if (error.code === "42501") throw new ForbiddenError(message);
    if (error.code === "PT409") throw new ConflictError(message);
    if (error.code === "PT422") throw new RejectedError(message, parseProblems(error.details));
    throw new Error(message);
  }
}

function parseProblems(details: string | null | undefined): Record<string, string> {
  try {
    return JSON.parse(details ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}
