import type { EvidenceChatElement } from "../src/index.js";
import { byId } from "./page.js";
import { LANGUAGES, loadPreferences, MODES, type Preferences, savePreferences, THEMES } from "./preferences.js";

/** Sets up the switches for the theme, and the language and mode of the chat, and applies the stored preferences. */
export function setUpSwitches(chat: EvidenceChatElement): void {
  const storage = () => localStorage;
  let preferences = loadPreferences(storage);
  const choose = (changed: Partial<Preferences>) => {
    preferences = { ...preferences, ...changed };
    savePreferences(storage, preferences);
    apply(preferences, chat);
  };

  const languages = byId("language", HTMLSelectElement);
  languages.value = preferences.language;
  languages.addEventListener("change", () =>
    choose({ language: LANGUAGES.find((one) => one === languages.value) ?? "en" }),
  );
  setUpRadios("theme", THEMES, preferences.theme, (theme) => choose({ theme }));
  setUpRadios("mode", MODES, preferences.mode, (mode) => choose({ mode }));
  apply(preferences, chat);
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

function apply(preferences: Preferences, chat: EvidenceChatElement): void {
  document.documentElement.dataset.theme = preferences.theme;
  document.body.dataset.mode = preferences.mode;
  chat.setAttribute("theme", preferences.theme);
  chat.mode = preferences.mode;
  chat.setAttribute("lang", preferences.language);
}
