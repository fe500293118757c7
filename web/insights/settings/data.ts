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
