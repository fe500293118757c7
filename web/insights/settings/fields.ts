// Every setting that the page shows: a column of `assistants` or `chat_settings`, how it is edited, and what the database allows. To
// add a column, add an entry here and its name to the list of editable columns in the migration.
import type { Value } from "./data.js";

interface CommonField {
  /** The name in the database. */
  readonly column: string;
  readonly label: string;
  /** Explains the effect. */
  readonly help: string;
  /** Says what is allowed, in a whole sentence that the reader sees after a mistake. */
  readonly rule: string;
  /** Asks for confirmation before this change is saved. */
  readonly warning?: (to: Value, from: Value) => string | undefined;
}

export interface TextField extends CommonField {
  readonly kind: "text";
  readonly maxLength: number;
  /** More than one makes it a text area. */
  readonly lines?: number;
  /** Stands for NULL. */
  readonly placeholder: string;
}

export interface NumberField extends CommonField {
  readonly kind: "number";
  readonly min: number;
  readonly max: number;
  readonly isInteger: boolean;
  /** Stands for NULL. Absent if the column always has a value. */
  readonly placeholder?: string;
  /** In which direction the database lets administrators change it. NULL is the largest number. */
  readonly only?: "lower" | "higher";
}

export interface ChoiceField extends CommonField {
  readonly kind: "choice";
  readonly options: readonly (readonly [value: string, label: string])[];
  /** Whether the database lets administrators choose only what comes before the saved option. */
  readonly only?: "earlier";
}

export interface SwitchField extends CommonField {
  readonly kind: "switch";
}

export interface ListField extends CommonField {
  readonly kind: "list";
  /** An example of an entry. */
  readonly placeholder: string;
  /**
   * The saved value of an empty list: NULL or an empty list. Given a text, both are possible, and this is the label of the
   * checkbox for NULL.
   */
  readonly whenEmpty: "null" | "list" | { readonly nullLabel: string };
}

export type Field = TextField | NumberField | ChoiceField | SwitchField | ListField;

export interface Group {
  readonly title: string;
  readonly fields: readonly Field[];
}

const SHARE = { kind: "number", min: 0, max: 1, isInteger: false } as const;

const DAYS = {
  kind: "number",
  rule: "A whole number of days from 1 to 36500, not above the present one. Only the owner of the project can extend it, in the dashboard.",
  min: 1,
  max: 36500,
  isInteger: true,
  placeholder: "For ever",
  only: "lower",
} as const;

export const ASSISTANT_GROUPS: readonly Group[] = [
  {
    title: "Who may use it",
    fields: [
      {
        kind: "switch",
        column: "enabled",
        label: "Enabled",
        help: "Off: its name is unknown to everybody, and its conversations are kept.",
        rule: "It must be on or off.",
        warning: (to) => (to ? undefined : "Pages that show this assistant stop answering within a minute."),
      },
      {
        kind: "list",
        column: "audience",
        label: "Audience",
        help: "Claims of the users who may use it, one a line. This does not hide the documents: another assistant may search them.",
        rule: "Each entry must be a claim and a value, such as team:support. Claims that users can write are rejected.",
        placeholder: "team:support",
        whenEmpty: "null",
      },
      {
        kind: "list",
        column: "allowed_origins",
        label: "Allowed origins",
        help: "The sites that may show it, one a line. Without an entry: all sites that the Worker allows (CHAT_ALLOWED_ORIGINS).",
        rule: "At most 50 origins of 300 characters, in lower case and without a path: https://shop.example.com or https://*.example.com.",
        placeholder: "https://shop.example.com",
        whenEmpty: "null",
      },
    ],
  },
  {
    title: "Texts",
    fields: [
      {
        kind: "text",
        column: "title",
        label: "Title",
        help: "Heading of the chat.",
        rule: "1 to 100 characters, or empty for the text of the widget.",
        maxLength: 100,
        placeholder: "The text of the widget",
      },
      {
        kind: "text",
        column: "greeting",
        label: "Greeting",
        help: "First line of an empty chat.",
        rule: "1 to 500 characters, or empty for the text of the widget.",
        maxLength: 500,
        lines: 2,
        placeholder: "The text of the widget",
      },
      {
        kind: "list",
        column: "suggested_questions",
        label: "Suggested questions",
        help: "Questions to click on in an empty chat, one a line.",
        rule: "At most 6 questions of 200 characters.",
        placeholder: "How do I return an order?",
        whenEmpty: "list",
      },
      {
        kind: "text",
        column: "refusal_message",
        label: "Refusal message",
        help: "What the chat says when it has no answer.",
        rule: "1 to 1000 characters, or empty for the built-in text.",
        maxLength: 1000,
        lines: 3,
        placeholder:
          "I don't have enough information to answer that question. You might try contacting support or rephrasing your question.",
      },
      {
        kind: "list",
        column: "refusal_suggestions",
        label: "Refusal suggestions",
        help: "What the chat offers instead of an answer: contact, rephrase, or a question to ask instead, one a line.",
        rule: "At most 5 suggestions of 200 characters.",
        placeholder: "contact",
        whenEmpty: { nullLabel: "Use the built-in suggestions" },
      },
      {
        kind: "text",
        column: "support_url",
        label: "Support address",
        help: "Where visitors contact you: a page or a mailbox. {question} in the address of a page stands for the question.",
        rule: "An address that begins with https:// or mailto:, without spaces, at most 500 characters.",
        maxLength: 500,
        placeholder: "The address in your page, if any",
      },
    ],
  },
  {
    title: "When it answers",
    fields: [
      {
        ...SHARE,
        column: "evidence_threshold",
        label: "Evidence threshold",
        help: "How similar the best passage must be to the question: 0 (anything) to 1 (the same words). Higher refuses more.",
        rule: "0 to 1, or empty for 0.35.",
        placeholder: "0.35 (default)",
      },
      {
        ...SHARE,
        column: "evidence_confidence",
        label: "Evidence confidence",
        help: "How sure the chat must be that the passages answer the question: 0 (off) to 1. Higher refuses more.",
        rule: "0 to 1, or empty for 0.5.",
        placeholder: "0.5 (default)",
      },
    ],
  },
  {
    title: "What answers are made of",
    fields: [
      {
        kind: "list",
        column: "collections",
        label: "Collections",
        help: "The collections of documents that it searches, one a line. Without an entry: all of them, also those added later.",
        rule: "At most 100 names of 200 characters, without / and line breaks.",
        placeholder: "handbook",
        whenEmpty: "null",
      },
      {
        kind: "number",
        column: "match_count",
        label: "Passages",
        help: "How many passages are read for one answer. The confidence is calibrated for 5 and more.",
        rule: "A whole number from 1 to 50, or empty for 5.",
        min: 1,
        max: 50,
        isInteger: true,
        placeholder: "5 (default)",
      },
      {
        kind: "choice",
        column: "answer_mode",
        label: "Who writes answers",
        help: "A language model works only if the owner has configured one for the Worker.",
        rule: "One of the options.",
        options: [
          ["extractive", "The documents, in quotes"],
          ["endpoint", "The language model of the server"],
          ["on_device", "The documents, and a model in the browser on demand"],
        ],
        warning: (to) =>
          to === "endpoint"
            ? "Questions and the passages that were found for them are sent to the language model of the server."
            : undefined,
      },
      {
        kind: "switch",
        column: "citations",
        label: "Citations",
        help: "Whether answers show where each sentence comes from.",
        rule: "It must be on or off.",
      },
      {
        kind: "choice",
        column: "link_mode",
        label: "Links to original files",
        help: "The strictest mode of all assistants that search a document applies to its file.",
        rule: "One of the options.",
        options: [
          ["none", "No links"],
          ["authenticated", "For users who see the document"],
          ["public", "Links that work for 7 days for everybody who has them"],
        ],
        warning: (to) => {
          if (to === "none") return undefined;
          if (to === "authenticated") return "Users can then open the original files of the documents that they see.";
          return "Anybody who gets such a link can open the file for 7 days, even if they may not see the document.";
        },
      },
    ],
  },
];

export const GENERAL_GROUPS: readonly Group[] = [
  {
    title: "Questions of visitors",
    fields: [
      {
        kind: "choice",
        column: "keep_refusals",
        label: "Keep questions without an answer",
        help: "You can choose to keep less; only the owner can choose to keep more.",
        rule: "You can keep less than now; only the owner of the project can keep more, in the dashboard.",
        options: [
          ["off", "Nothing"],
          ["anonymous", "The question and the day"],
          ["full", "The question and who asked"],
        ],
        only: "earlier",
        warning: (to) =>
          to === "off"
            ? "The stored questions without an answer are deleted in the next night, for good."
            : "Users and conversations are removed from the stored questions in the next night, for good.",
      },
      {
        kind: "number",
        column: "gap_users",
        label: "Users of a gap",
        help: "How many users must have asked a question before this page shows it; your own questions count, too. You can raise it; only the owner can lower it.",
        rule: "A whole number from the present one to 1000. Only the owner of the project can lower it, in the dashboard.",
        min: 1,
        max: 1000,
        isInteger: true,
        only: "higher",
      },
      {
        ...DAYS,
        column: "retention_days",
        label: "Keep conversations for … days",
        help: "Days after the last message. You can shorten it; only the owner can extend it.",
        warning: (to) =>
          `Conversations without a message for ${String(to)} days, and refused questions that are older, are deleted in the next night, for good.`,
      },
      {
        ...DAYS,
        column: "anonymous_retention_days",
        label: "Keep anonymous users for … days",
        help: "Days after the last question or sign-in. You can shorten it; only the owner can extend it.",
        warning: (to) =>
          `Anonymous users who have been away for ${String(to)} days are deleted with their conversations in the next night, for good.`,
      },
    ],
  },
  {
    title: "Alerts",
    fields: [
      {
        ...SHARE,
        column: "alert_answered_share",
        label: "Answered share",
        help: "An alert is sent when fewer questions of the last 7 days were answered: 0 to 1.",
        rule: "0 to 1, or empty for no alert.",
        placeholder: "No alert",
      },
      {
        ...SHARE,
        column: "alert_cited_share",
        label: "Cited share",
        help: "An alert is sent when fewer answers of the last 7 days have citations: 0 to 1.",
        rule: "0 to 1, or empty for no alert.",
        placeholder: "No alert",
      },
    ],
  },
];

/** The label of a column, for the audit trail and conflicts. */
export function labelOf(column: string): string {
  const fields = [...ASSISTANT_GROUPS, ...GENERAL_GROUPS].flatMap((group) => group.fields);
  return fields.find((field) => field.column === column)?.label ?? column;
}

/** A value as text. */
export function showValue(value: Value | undefined): string {
  if (value === null || value === undefined) return "default";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.length === 0 ? "nothing" : value.join(", ");
  return String(value);
}
