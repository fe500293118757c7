import type { EvidenceChatElement } from "../src/index.js";
import type { PageLanguage } from "./language.js";
import { byId } from "./page.js";
import { loadPreferences, MODES, type Preferences, savePreferences, THEMES } from "./preferences.js";
import { isLanguage } from "./texts/index.js";

/** Sets up the switches for language, theme and mode of the chat, and applies the stored preferences. */
export function setUpSwitches(chat: EvidenceChatElement, language: PageLanguage): void {
  const storage = () => localStorage;
  let preferences = loadPreferences(storage, navigator.languages);
  const choose = (changed: Partial<Preferences>) => {
    preferences = { ...preferences, ...changed };
    savePreferences(storage, preferences);
    apply(preferences, chat, language);
  };

  const languages = byId("language", HTMLSelectElement);
  languages.value = preferences.language;
  languages.addEventListener("change", () => isLanguage(languages.value) && choose({ language: languages.value }));
  setUpRadios("theme", THEMES, preferences.theme, (theme) => choose({ theme }));
  setUpRadios("mode", MODES, preferences.mode, (mode) => choose({ mode }));
  apply(preferences, chat, language);
}

function setUpRadios<T extends string>(
  name: string,
  values: readonly T[],
  chosen: T,
  choose: (value: T) => void,
): void {
  for (const value of values) {
    const radio = byId(`${name}-${value}`, HTMLInputElement);
    radio.checked = value === chosen;
    radio.addEventListener("change", () => choose(value));
  }
}

function apply(preferences: Preferences, chat: EvidenceChatElement, language: PageLanguage): void {
  document.documentElement.dataset.theme = preferences.theme;
  document.body.dataset.mode = preferences.mode;
  chat.setAttribute("theme", preferences.theme);
  chat.mode = preferences.mode;
  chat.setAttribute("lang", preferences.language);
  language.use(preferences.language);
}
