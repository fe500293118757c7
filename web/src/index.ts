/** The `<evidence-chat>` element's class and the client it is built on. Importing this registers nothing. */
export * from "./client/index.js";
export { EvidenceChatElement, type EvidenceChatEventMap, type MessageDetail } from "./element/evidence-chat.js";
export type { EmbedderFactory, QuestionEmbedder } from "./element/model-loader.js";
