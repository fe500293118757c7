/** The class of `<evidence-chat>` and the client it uses. This module does not register the element. */
export * from "./client/index.js";
export type { ContactDetail, EvidenceChatEventMap, MessageDetail, StageDetail } from "./element/events.js";
export type { EvidenceChatAttributes, Mode, Position } from "./element/attributes.js";
export { EvidenceChatElement } from "./element/evidence-chat.js";
export type { EmbedderFactory, QuestionEmbedder } from "./panel/model/model-loader.js";
export type { Texts } from "./texts/index.js";
