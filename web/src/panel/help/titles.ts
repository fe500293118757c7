import type { Language } from "../../texts/index.js";

/** The title of the help, which is also the name of the button that opens it. */
const TITLES: { readonly [language in Language]: string } = {
  ar: "المساعدة",
  de: "Hilfe",
  en: "Help",
  es: "Ayuda",
  fr: "Aide",
  ja: "ヘルプ",
};

/** The title in a language of the widget, a BCP 47 tag. */
export function helpTitle(tag: string): string {
  return TITLES[tag.split("-", 1)[0] as Language];
}
