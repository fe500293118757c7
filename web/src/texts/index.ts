import { lazyImport } from "../lazy-import.js";
import * as ar from "./ar.js";
import * as de from "./de.js";
import * as en from "./en.js";
import * as es from "./es.js";
import * as fr from "./fr.js";
import * as ja from "./ja.js";

export type { Message } from "./en.js";

/** The texts that are needed before the panel is loaded. */
export const LAUNCHER_TEXTS = {
  ar: ar.launcher,
  de: de.launcher,
  en: en.launcher,
  es: es.launcher,
  fr: fr.launcher,
  ja: ja.launcher,
} as const satisfies Record<string, en.LauncherTexts>;

/** A language that the widget has texts for. */
export type Language = keyof typeof LAUNCHER_TEXTS;

/** Gives a value for each language of the widget. */
type ByLanguage<Value> = { readonly [language in Language]: Value };

/** The topics of the help, for the chunk of the help. */
export const HELP_TOPICS: ByLanguage<en.HelpTopics> = {
  ar: ar.help,
  de: de.help,
  en: en.help,
  es: es.help,
  fr: fr.help,
  ja: ja.help,
};

/** All texts of the widget but the topics of its help. */
export type Texts = en.LauncherTexts & en.PanelTexts;

/** The name of a text. */
export type TextKey = keyof Texts;

/** The language for a BCP 47 tag such as `de-AT`; English if the widget has no texts for it. */
export function languageOf(tag: string): Language {
  const primary = tag.toLowerCase().split(/[-_]/, 1)[0] ?? "";
  return Object.hasOwn(LAUNCHER_TEXTS, primary) ? (primary as Language) : "en";
}

/** Loads the panel's texts. The build replaces each file by a chunk that has only these. */
export async function loadPanelTexts(language: Language): Promise<en.PanelTexts> {
  const files: ByLanguage<() => Promise<{ readonly panel: en.PanelTexts }>> = {
    ar: lazyImport(() => import("./ar.js")),
    de: lazyImport(() => import("./de.js")),
    en: lazyImport(() => import("./en.js")),
    es: lazyImport(() => import("./es.js")),
    fr: lazyImport(() => import("./fr.js")),
    ja: lazyImport(() => import("./ja.js")),
  };
  return (await files[language]()).panel;
}
