import type { SupabaseClient } from "@supabase/supabase-js";
import { callDatabase } from "../data.js";

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

  #call<Result>(name: string, parameters: object): Promise<Result> {
    return callDatabase(this.#client, name, parameters);
  }
}
