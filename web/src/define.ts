/** Registers `<evidence-chat>`. */
import { EvidenceChatElement } from "./element/evidence-chat.js";

export * from "./index.js";

if (!customElements.get("evidence-chat")) customElements.define("evidence-chat", EvidenceChatElement);
