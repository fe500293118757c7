/** The languages of the chat. The page itself is in English. */
export const LANGUAGES = ["en", "de", "es", "fr", "ar", "ja"] as const;
export const THEMES = ["light", "dark", "auto"] as const;
export const MODES = ["inline", "floating"] as const;

export type Language = (typeof LANGUAGES)[number];
export type Theme = (typeof THEMES)[number];
export type Mode = (typeof MODES)[number];

/** The visitor's preferences for the page. */
export interface Preferences {
  readonly language: Language;
  readonly theme: Theme;
  /** In the page, or behind a button in the corner. */
  readonly mode: Mode;
}

/** Loads the stored preferences. */
export function loadPreferences(storage: () => Storage): Preferences {
  const { language, theme, mode } = read(storage);
  return {
    language: LANGUAGES.find((one) => one === language) ?? "en",
    theme: THEMES.find((one) => one === theme) ?? "auto",
    mode: MODES.find((one) => one === mode) ?? "inline",
  };
}

/** Stores the preferences for the next visit, if the browser allows it. */
export function savePreferences(storage: () => Storage, preferences: Preferences): void {
  try {
    storage().setItem(KEY, JSON.stringify(preferences));
  } catch {
    // Storage is blocked or full.
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
