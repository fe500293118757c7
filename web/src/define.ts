/** Registers `<evidence-chat>`. */
import { EvidenceChatElement } from "./element/evidence-chat.js";

export { EvidenceChatElement };

if (!customElements.get("evidence-chat")) customElements.define("evidence-chat", EvidenceChatElement);
