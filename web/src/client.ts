/**
 * The client without the element, for servers and for pages with their own interface, and adapters for other stacks.
 */
export * from "./client/index.js";
export {
  type OpenWebUiEvent,
  type OpenWebUiMetadata,
  type OpenWebUiSource,
  toOpenWebUiEvents,
} from "./client/adapters/open-webui.js";
export { toUiMessageStream, type UiMessageMetadata, type UiMessagePart } from "./client/adapters/ui-message-stream.js";
