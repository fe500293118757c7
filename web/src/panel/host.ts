import type { TokenProvider } from "../client/request.js";
import type { ChatConfig } from "../client/wire.js";
import type { Translator } from "../dom/translator.js";
import type { Dispatch } from "../element/events.js";
import type { Frame } from "../element/frame.js";
import type { TabMemory } from "../element/tab-memory.js";
import type { EmbedderFactory } from "./model/model-loader.js";
import type { WriterLoader } from "./writer/writer-source.js";

/** The part of `<evidence-chat>` that the panel reads. */
export interface HostElement extends HTMLElement {
  readonly endpoint: string;
  readonly modelUrl: string;
  readonly answerMode: "site" | "extractive";
  /** `undefined` if the page does not sign visitors in. */
  readonly tokenProvider: TokenProvider | undefined;
  readonly embedderFactory: EmbedderFactory | undefined;
  readonly writerLoader: WriterLoader | undefined;
}

/** The parts of the element that the panel uses. */
export interface PanelHost {
  readonly element: HostElement;
  readonly shadow: ShadowRoot;
  readonly frame: Frame;
  readonly translator: Translator;
  readonly dispatch: Dispatch;
  /** Remembers for this tab the session of its conversation and the id of its user, with a space between them. */
  readonly memory: TabMemory;
  /** Shows the title and the greeting of the site's settings, unless the page has its own. */
  readonly greet: (site: SiteTexts) => void;
}

/** Texts of the site's settings. */
export type SiteTexts = Pick<ChatConfig, "title" | "greeting">;
