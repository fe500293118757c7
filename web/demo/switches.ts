import { byId } from "../pages/by-id.js";
import type { EvidenceChatElement } from "../src/index.js";

const KEY = "evidence-chat-demo";

/** Applies the visitor's choices of language, theme and mode, and keeps them for the next visit. */
export function setUpSwitches(chat: EvidenceChatElement): void {
  const switches = ["language", "theme", "mode"].map((id) => byId(id, HTMLSelectElement));
  const stored = readStored();
  const apply = () => {
    const [language = "", theme = "", mode = ""] = switches.map(({ value }) => value);
    document.documentElement.dataset.theme = theme;
    document.body.dataset.mode = mode;
    chat.setAttribute("lang", language);
    chat.setAttribute("theme", theme);
    chat.mode = mode === "floating" ? mode : "inline";
  };
  for (const [at, choice] of switches.entries()) {
    if ([...choice.options].some(({ value }) => value === stored[at])) choice.value = stored[at] ?? "";
    choice.addEventListener("change", () => {
      apply();
      store(switches.map(({ value }) => value));
    });
  }
  apply();
}

function readStored(): readonly string[] {
  try {
    return (localStorage.getItem(KEY) ?? "").split(" ");
  } catch {
    return [];
  }
}

function store(values: readonly string[]): void {
  try {
    localStorage.setItem(KEY, values.join(" "));
  } catch {
    // Storage is blocked or full.
  }
}
