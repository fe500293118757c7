/** The `<evidence-chat>` element's class and the client it is built on. Importing this registers nothing. */
export * from "./client/index.js";
export type { EvidenceChatEventMap, MessageDetail, StageDetail } from "./element/events.js";
export { EvidenceChatElement, type Mode } from "./element/evidence-chat.js";
export type { EmbedderFactory, QuestionEmbedder } from "./panel/model/model-loader.js";
export type { Texts } from "./texts/index.js";
