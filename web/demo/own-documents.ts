import type { EvidenceChatElement } from "../src/index.js";
import type { PageLanguage } from "./language.js";
import { byId } from "./page.js";

const TITLE = "Evidence Chat";

/** Removes what is only true of the sample shop: its name, the example questions and the sample answer. */
export function showOwnDocuments(chat: EvidenceChatElement, language: PageLanguage): void {
  for (const part of document.querySelectorAll("[data-sample]")) part.remove();
  byId("brand-name", HTMLElement).textContent = TITLE;
  language.pageTitle = TITLE;
  chat.removeAttribute("heading");
}
