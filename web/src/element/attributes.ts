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

/** The address of a script that a Worker serves. */
const SERVED_SCRIPT = /^(https?:\/\/[^/]+)\/evidence-chat\.js([?#]|$)/;

/**
 * The API of the Worker that serves `/evidence-chat.js`, by the address of that script. Empty for a copy elsewhere: in a
 * bundle, a folder of the site, or on a CDN. Bundles of CommonJS modules, which servers use, have no address.
 */
export function defaultEndpoint(script: string | undefined): string {
  const origin = SERVED_SCRIPT.exec(script ?? "")?.[1];
  return origin === undefined ? "" : `${origin}/api/chat`;
}

/** The properties of the element that are not attributes, set in this order, each with its value if a component is not given one. */
const DEFAULTS = { texts: {}, tokenProvider: undefined, embedderFactory: undefined, writerLoader: undefined } as const;

/**
 * Properties of the element that are not attributes. They may change, and their identity does not matter. One that is no longer given
 * gets its default.
 */
export type EvidenceChatProperties = Partial<Pick<EvidenceChatElement, keyof typeof DEFAULTS>>;

/** Whether a component sets this on the element as a property. */
export function isElementProperty(name: string): name is keyof EvidenceChatProperties {
  return Object.hasOwn(DEFAULTS, name);
}

/** Sets the properties that differ from those that the component set `before`. Others, which the page may have set itself, stay. */
export function assignProperties(
  element: EvidenceChatElement,
  properties: EvidenceChatProperties,
  before: EvidenceChatProperties = {},
): void {
  for (const name of Object.keys(DEFAULTS).filter(isElementProperty)) {
    const value = properties[name];
    if (value !== before[name]) Object.assign(element, { [name]: value ?? DEFAULTS[name] });
  }
}

/** The shortcuts of a widget whose page sets none. */
const DEFAULT_SHORTCUTS = "mod+k /";

/**
 * Whether a key press is one of the shortcuts, which spaces separate: `mod+k` is ⌘ or Ctrl with that key and no other, `/` the key alone.
 * For a listener of the window: not if the page has handled it, and not in a field of the page; in the question box of `host` only with ⌘ or Ctrl.
 */
export function isShortcut(event: KeyboardEvent, shortcuts: string | null, host: EventTarget): boolean {
  const { key, code, metaKey, ctrlKey, altKey, shiftKey } = event;
  const isMod = metaKey || ctrlKey;
  // On some keyboards, the slash needs the shift key.
  if (event.defaultPrevented || altKey || (isMod && shiftKey)) return false;
  const [target] = event.composedPath();
  if (target instanceof HTMLElement && !(isMod && event.target === host))
    if (target.isContentEditable || target.matches("input, textarea, select")) return false;
  // On keyboards of other scripts, the position of the key counts.
  const letter = key > "~" ? code.replace("Key", "") : key;
  const pressed = (isMod ? "mod+" : "") + letter;
  return (shortcuts ?? DEFAULT_SHORTCUTS).toLowerCase().split(" ").includes(pressed.toLowerCase());
}
