import { lazyImport } from "../dom/lazy-import.js";
import { LAUNCHER_TEXTS, type LauncherTexts } from "./launcher.js";
import type { PanelTexts } from "./panel/en.js";

export type { Message } from "./panel/en.js";

/** All texts of the widget. */
export type Texts = LauncherTexts & PanelTexts;

/** The name of a text. */
export type TextKey = keyof Texts;

/** A language that the widget has texts for. */
export type Language = keyof typeof LAUNCHER_TEXTS;

/** The language for a BCP 47 tag such as `de-AT`; English if the widget has no texts for it. */
export function languageOf(tag: string): Language {
  const primary = tag.toLowerCase().split(/[-_]/, 1)[0] ?? "";
  return Object.hasOwn(LAUNCHER_TEXTS, primary) ? (primary as Language) : "en";
}

/** The texts that are needed before the panel is loaded. */
export function launcherTexts(language: Language): LauncherTexts {
  return LAUNCHER_TEXTS[language];
}

/** Loads the other texts. */
export async function loadPanelTexts(language: Language): Promise<PanelTexts> {
  return (await PANEL_TEXTS[language]()).texts;
}

const PANEL_TEXTS: { readonly [language in Language]: () => Promise<{ readonly texts: PanelTexts }> } = {
  ar: lazyImport(() => import("./panel/ar.js")),
  de: lazyImport(() => import("./panel/de.js")),
  en: lazyImport(() => import("./panel/en.js")),
  es: lazyImport(() => import("./panel/es.js")),
  fr: lazyImport(() => import("./panel/fr.js")),
  ja: lazyImport(() => import("./panel/ja.js")),
};
