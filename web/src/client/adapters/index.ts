export { type OpenWebUiEvent, type OpenWebUiMetadata, type OpenWebUiSource, toOpenWebUiEvents } from "./open-webui.js";
export { toUiMessageStream, type UiMessageMetadata, type UiMessagePart } from "./ui-message-stream.js";
