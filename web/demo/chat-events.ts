import type { EvidenceChatElement, EvidenceChatEventMap } from "../src/index.js";

/** Calls the listener with the detail of each event of that type. */
export function onChatEvent<K extends keyof EvidenceChatEventMap>(
  chat: EvidenceChatElement,
  type: K,
  listener: (detail: EvidenceChatEventMap[K]["detail"]) => void,
): void {
  chat.addEventListener(type, (event) => listener((event as EvidenceChatEventMap[K]).detail));
}
