import type { EvidenceChatElement } from "./evidence-chat.js";

/** Where the widget is: in the flow of the page, or behind a button in the corner of the window. */
export type Mode = "inline" | "floating";

/** Side of the window where a floating widget is, in the widget's direction of text. */
export type Position = "start" | "end";

/** The attributes of `<evidence-chat>`, in the form in which components of frameworks have them: `model-url` is `modelUrl`. */
export interface EvidenceChatAttributes {
  /** `extractive`: answers only quote, even if the site lets a language model write them. Default: site, the site's setting. */
  readonly answerMode?: "site" | "extractive";
  /** Name of the assistant that answers. Default: the site's default assistant. */
  readonly assistant?: string;
  /** URL of POST /api/chat. */
  readonly endpoint?: string;
  /** `off`: visitors are not asked whether an answer helped. Default: on. */
  readonly feedback?: "on" | "off";
  /** Text before the first question. The component's children take precedence. */
  readonly greeting?: string;
  /** Title of the panel. */
  readonly heading?: string;
  /** `off`: no results are shown while a question is typed. Default: on. */
  readonly instantResults?: "on" | "off";
  /** Language of the widget: en, de, es, fr, ar or ja. Default: the page's. */
  readonly lang?: string;
  /** Default: inline. */
  readonly mode?: Mode;
  /** URL of the model file, or of its folder with `/` at the end. Default: the file that the bundler emits. */
  readonly modelUrl?: string;
  /** Side of the window where a floating widget is, in its direction of text. Default: end. */
  readonly position?: Position;
  /** Load panel and model immediately instead of on hover, focus or open. */
  readonly preload?: boolean;
  /** `off`: no model reads the passages with the question before it is sent. Default: on. */
  readonly reader?: "on" | "off";
  /** Keys that open the widget, separated by spaces; `mod+k` also closes a floating panel. `off`: none. Default: `mod+k /`. */
  readonly shortcut?: string;
  /** Publishable key of the project of `supabaseUrl`. */
  readonly supabaseKey?: string;
  /** URL of the Supabase project that signs visitors in without an account. Default: the server's, if it has one. */
  readonly supabaseUrl?: string;
  /**
   * Target of "Contact support": a page, with `{question}` where the question goes, `mailto:`, or a place of this page such as
   * `#contact`. Default: the server's.
   */
  readonly supportUrl?: string;
  /** Default: auto, the visitor's preference. */
  readonly theme?: "light" | "dark" | "auto";
  /** Site key of Cloudflare Turnstile, if the project of `supabaseUrl` asks for a CAPTCHA. */
  readonly turnstileSiteKey?: string;
  /** SHA-256 of the file of `writerModelUrl` as hex. */
  readonly writerModelSha256?: string;
  /** Size of the file of `writerModelUrl` in bytes. */
  readonly writerModelSize?: string;
  /** URL of a GGUF file: a language model that writes answers on the visitor's device. */
  readonly writerModelUrl?: string;
  /** URL of the module `@evidence-chat/writer`. */
  readonly writerUrl?: string;
}

/** Name of the attribute of a property of {@link EvidenceChatAttributes}. */
export function attributeName(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

declare global {
  interface HTMLElementTagNameMap {
    "evidence-chat": EvidenceChatElement;
  }
}
