import { isLanguage, type Language } from "./texts/index.js";

export const THEMES = ["light", "dark", "auto"] as const;
export const MODES = ["inline", "floating"] as const;

export type Theme = (typeof THEMES)[number];
export type Mode = (typeof MODES)[number];

/** How the visitor wants the page. */
export interface Preferences {
  readonly language: Language;
  readonly theme: Theme;
  /** Where the chat is: in the page, or behind a button in its corner. */
  readonly mode: Mode;
}

/** What the visitor chose before; else the first of the browser's languages that the page speaks. */
export function loadPreferences(storage: () => Storage, languages: readonly string[]): Preferences {
  const { language, theme, mode } = read(storage);
  const spoken = languages.map((tag) => tag.toLowerCase().split("-", 1)[0]).find(isLanguage);
  return {
    language: isLanguage(language) ? language : (spoken ?? "en"),
    theme: THEMES.find((one) => one === theme) ?? "auto",
    mode: MODES.find((one) => one === mode) ?? "inline",
  };
}

/** Keeps the choice for the next visit; where the browser forbids that, it holds for this one. */
export function savePreferences(storage: () => Storage, preferences: Preferences): void {
  try {
    storage().setItem(KEY, JSON.stringify(preferences));
  } catch {
    // No storage, or a full one.
  }
}

function read(storage: () => Storage): { readonly [name in keyof Preferences]?: unknown } {
  try {
    return Object(JSON.parse(storage().getItem(KEY) ?? "{}")) as object;
  } catch {
    return {};
  }
}

const KEY = "fernhollow-preferences";
