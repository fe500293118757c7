/** The part of the panel that loads with a visitor's first answer: the hint that badges can be opened. */
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { adoptStyles } from "../../dom/styles.js";
import type { Language } from "../../texts/index.js";
import type { PanelHost } from "../host.js";
import css from "./hint.css";

/** How long the hint stays if the visitor opens no badge. */
const HINT_MS = 10_000;

export const texts: { readonly [language in Language]: string } = {
  ar: "الرقم الذي يلي الجملة هو مصدرها: افتحه لترى الكلمات في موضعها من النص.",
  de: "Die Zahl hinter einem Satz ist seine Quelle: Öffnen Sie sie, um die Worte an ihrer Stelle im Text zu sehen.",
  en: "The number after a sentence is its source: open it to see the words in their passage.",
  es: "El número tras una frase es su fuente: ábralo para ver las palabras en su pasaje.",
  fr: "Le numéro après une phrase est sa source : ouvrez-le pour voir les mots dans leur passage.",
  ja: "文の後の番号は出典です。開くと、その言葉が本文のどこにあるかを確認できます。",
};

/** Shows the hint until the visitor opens a source, at most ten seconds. */
export function showHint({ element: chat, shadow, frame, translator }: PanelHost): void {
  adoptStyles(shadow, css);
  // Screen readers announce only what is added to a status that is there already.
  const status = element("div", { role: "status" });
  frame.status.append(status);
  const gone = () => {
    status.remove();
    clearTimeout(timer);
  };
  const timer = setTimeout(gone, HINT_MS);
  chat.addEventListener("citation-open", gone, { once: true });
  const text = texts[translator.language.split("-", 1)[0] as Language];
  requestAnimationFrame(() =>
    status.append(element("div", { class: "hint-badge", "data-role": "badge-hint" }, icon(icons.info), text)),
  );
}
