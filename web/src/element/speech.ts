import type { Translator } from "../dom/translator.js";
import { type Language, languageOf, launcherTexts, loadPanelTexts, type Texts } from "../texts/index.js";

/** Which language the widget speaks: that of its `lang`, or of the page around it. */
export class Speech {
  readonly #translator: Translator;
  readonly #root: HTMLElement;
  readonly #panelTexts = new Map<Language, Partial<Texts>>();
  #language: Language = "en";
  #tag = "en";
  #overrides: Partial<Texts> = {};
  #needsPanelTexts = false;

  constructor(translator: Translator, root: HTMLElement) {
    this.#translator = translator;
    this.#root = root;
  }

  /** Speaks the language that holds where the element stands; `overrides` are texts of the page's own. */
  use(element: HTMLElement, overrides: Partial<Texts>): void {
    const tag = tagAt(element);
    this.#language = languageOf(tag);
    // Numbers and plurals follow the region (de-AT), where the widget speaks the language at all.
    this.#tag = isValid(tag) && tag.toLowerCase().startsWith(this.#language) ? tag : this.#language;
    this.#overrides = overrides;
    this.#show();
    if (this.#needsPanelTexts) void this.loadPanelTexts().catch(() => undefined);
  }

  /** Loads the texts of the panel in the language of the moment, now and whenever that changes. Rejects if that fails. */
  async loadPanelTexts(): Promise<void> {
    this.#needsPanelTexts = true;
    const language = this.#language;
    if (this.#panelTexts.has(language)) return;
    this.#panelTexts.set(language, await loadPanelTexts(language));
    if (language === this.#language) this.#show();
  }

  #show(): void {
    const panelTexts = this.#panelTexts.get(this.#language);
    // Until the panel's texts are there, it goes on in the language it had.
    if (this.#needsPanelTexts && this.#panelTexts.size > 0 && !panelTexts) return;
    this.#translator.use(this.#tag, { ...launcherTexts(this.#language), ...panelTexts, ...this.#overrides });
    this.#root.lang = this.#tag;
    this.#root.dir = this.#translator.direction;
  }
}

/** The `lang` of the element or of the nearest element around it, also outside of its shadow tree. */
function tagAt(element: Element): string {
  for (let node: Element | undefined = element; node; node = hostOf(node)) {
    const tag = node.closest("[lang]")?.getAttribute("lang");
    if (tag) return tag;
  }
  return "en";
}

function hostOf(element: Element): Element | undefined {
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : undefined;
}

/** `Intl` throws for tags it cannot read. */
function isValid(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
