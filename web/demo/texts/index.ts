import { texts as ar } from "./ar.js";
import { texts as de } from "./de.js";
import { texts as en } from "./en.js";
import { texts as es } from "./es.js";
import { texts as fr } from "./fr.js";
import { texts as ja } from "./ja.js";
import type { Texts } from "./texts.js";

export const TEXTS = { ar, de, en, es, fr, ja } satisfies Record<string, Texts>;

/** A language of the page. */
export type Language = keyof typeof TEXTS;

export function isLanguage(value: unknown): value is Language {
  return typeof value === "string" && Object.hasOwn(TEXTS, value);
}
