import type { EvidenceChatAttributes } from "@evidence-chat/widget";

/** Options of the plugin: its own, and the attributes of the element in camel case. */
export interface EvidenceChatOptions extends Omit<EvidenceChatAttributes, "lang" | "mode" | "shortcut" | "theme"> {
  /** Text of the button. Default: Ask. */
  readonly label?: string;
  /**
   * Path of a module of the site, relative to its folder. Its default export gets the element when it is made, for instance to set
   * `tokenProvider`.
   */
  readonly setup?: string;
  /** Keys that open the chat; `false` for none. Default: mod+k, which is ⌘K or Ctrl+K. */
  readonly shortcut?: string | false;
}

/** A plugin of Docusaurus 3. */
export default function evidenceChat(
  context: { readonly siteDir: string },
  options: EvidenceChatOptions & { readonly id?: string },
): {
  name: string;
  getThemePath(): string;
  getClientModules(): string[];
  contentLoaded(args: { actions: { setGlobalData(data: unknown): void } }): Promise<void>;
  configureWebpack(): { resolve: { alias: Record<string, string> } };
};
