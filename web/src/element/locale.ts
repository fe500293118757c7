import type { Translator } from "../dom/translator.js";
import { LAUNCHER_TEXTS, type Language, languageOf, loadPanelTexts, type Texts } from "../texts/index.js";

/** Sets the language of the widget: that of its `lang` attribute, or that of the page around it. */
export class LocaleController {
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

  /** Switches to the language at the element's place in the page; `overrides` are the page's own texts. */
  use(element: HTMLElement, overrides: Partial<Texts>): void {
    const tag = canonical(tagAt(element));
    this.#language = languageOf(tag);
    // Numbers and plurals follow the region (de-AT) if the widget has texts for the language.
    this.#tag = tag.split("-", 1)[0] === this.#language ? tag : this.#language;
    this.#overrides = overrides;
    this.#show();
    if (this.#needsPanelTexts) void this.loadPanelTexts().catch(() => undefined);
  }

  /** Loads the panel's texts in the current language, now and after each change of language. Rejects if that fails. */
  async loadPanelTexts(): Promise<void> {
    this.#needsPanelTexts = true;
    const language = this.#language;
    if (this.#panelTexts.has(language)) return;
    this.#panelTexts.set(language, await loadPanelTexts(language));
    if (language === this.#language) this.#show();
  }

  #show(): void {
    const panelTexts = this.#panelTexts.get(this.#language);
    // Keep the previous language until the panel's texts are loaded.
    if (this.#needsPanelTexts && this.#panelTexts.size > 0 && !panelTexts) return;
    this.#translator.use(this.#tag, { ...LAUNCHER_TEXTS[this.#language], ...panelTexts, ...this.#overrides });
    this.#root.lang = this.#tag;
    this.#root.dir = this.#translator.direction;
  }
}

/** The `lang` of the element or of its nearest ancestor, also across shadow roots. */
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

/** `en` for `EN` and `eng`. A malformed tag, for which `Intl` throws, stays as it is. */
function canonical(tag: string): string {
  try {
    return new Intl.Locale(tag).toString();
  } catch {
    return tag;
  }
}
