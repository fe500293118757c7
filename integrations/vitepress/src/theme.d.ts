import type { EvidenceChatAttributes, EvidenceChatElement } from "@evidence-chat/widget";

/** Attributes of the element in camel case, and what the button has. */
export interface EvidenceChatOptions extends Omit<EvidenceChatAttributes, "lang" | "mode" | "shortcut" | "theme"> {
  /** Text of the button. Default: Ask. */
  readonly label?: string;
  /** Gets the element when it is made, for instance to set `tokenProvider`. */
  readonly setup?: (chat: EvidenceChatElement) => void;
  /** Keys that open the chat; `false` for none. Default: mod+k, which is ⌘K or Ctrl+K. */
  readonly shortcut?: string | false;
}

/** The theme with a button in the navigation bar that opens the chat. */
export function withEvidenceChat<Theme extends object>(theme: Theme, options: EvidenceChatOptions): Theme;
