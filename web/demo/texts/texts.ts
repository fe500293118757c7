import type { texts } from "./en.js";

/** The name of a text. */
export type TextKey = keyof typeof texts;

/** All texts of the page in one language. */
export type Texts = Readonly<Record<TextKey, string>>;
