import type { StarlightPlugin } from "@astrojs/starlight/types";
import type { EvidenceChatAttributes } from "@evidence-chat/widget";

/** Attributes of the element in camel case, and what the button has. */
export interface EvidenceChatOptions extends Omit<EvidenceChatAttributes, "lang" | "mode" | "shortcut" | "theme"> {
  /** Text of the button. Default: Ask. */
  readonly label?: string;
  /**
   * Path of a module of the site, relative to its folder. Its default export gets the element when it is made, for instance to set
   * `tokenProvider`.
   */
  readonly setup?: string;
  /** Keys that open the chat; `false` for none. Default: mod+j, or mod+k on sites without Starlight's search. */
  readonly shortcut?: string | false;
}

/** A plugin of Starlight. */
export default function evidenceChat(options: EvidenceChatOptions): StarlightPlugin;
