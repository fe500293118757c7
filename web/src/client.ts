/**
 * The client without the element, for servers and for pages with their own interface, and adapters for other stacks.
 */
export * from "./client/index.js";
export { type CitedDocument, citedDocuments, type DocumentPassages, HEDGE } from "./client/cited-documents.js";
export {
  type OpenWebUiEvent,
  type OpenWebUiMetadata,
  type OpenWebUiSource,
  type OpenWebUiStatus,
  toOpenWebUiEvents,
} from "./client/adapters/open-webui.js";
export { toChatRequest, type UiMessage } from "./client/adapters/ui-message-stream.js";
export { toUiMessageStream, type UiMessageMetadata, type UiMessagePart } from "./client/adapters/ui-message-stream.js";
