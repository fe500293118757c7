export { type ChatClientOptions, streamChat, type TokenProvider } from "./client.js";
export { ChatError, type ChatErrorCode, type ChatErrorDetails } from "./errors.js";
export { safeUrl } from "./safe-url.js";
export { SessionTracker } from "./session.js";
export type { ChatEvent, ChatRequest, Citation, EvidenceStrength, Quote, RefusalEvent, RefusalReason } from "./wire.js";
