import { button } from "../src/dom/element.js";
import type { EvidenceChatElement } from "../src/index.js";
import { copyOnClick } from "./copy.js";
import type { PageLanguage } from "./language.js";
import { byId } from "./page.js";

/** Shown in the page while the chat is floating: how to embed it in another site. */
export function setUpEmbedHint(chat: EvidenceChatElement, language: PageLanguage): void {
  const snippet = byId("snippet", HTMLElement);
  snippet.textContent = SNIPPET;
  copyOnClick(byId("snippet-copy", HTMLButtonElement), language, () => SNIPPET);
  const open = button({ class: "primary", "data-text": "openChat" }, () => chat.open());
  byId("snippet-actions", HTMLElement).prepend(open);
}

const SNIPPET = `<script type="module"
  src="https://chat.example.com/evidence-chat.js"
></script>

<evidence-chat mode="floating"></evidence-chat>`;
