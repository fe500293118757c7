/** Registers `<evidence-chat>`, unless that name is taken or there is no DOM (on a server). */
import { EvidenceChatElement } from "./element/evidence-chat.js";

export { EvidenceChatElement };

if (globalThis.customElements && !customElements.get("evidence-chat"))
  customElements.define("evidence-chat", EvidenceChatElement);
