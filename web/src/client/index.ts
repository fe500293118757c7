export { type AnonymousErrorCode, type AnonymousOptions, AnonymousSession, AnonymousSignInError } from "./anonymous.js";
export { AnonymousStore, type StoredSession, type StoreEnvironment } from "./anonymous-store.js";
export {
  type AnswerId,
  deleteMyData,
  deleteSession,
  exportMyData,
  getConfig,
  giveFeedback,
  listMessages,
  listSessions,
  removeFeedback,
  renameSession,
} from "./api.js";
export { downloadDocument, type DownloadedFile } from "./download.js";
export { embedQuestion, type EmbeddedQuestion, type TextEmbedder } from "./embed-question.js";
export {
  ChatError,
  type ChatErrorCode,
  type ChatErrorDetails,
  type ChatErrorReason,
  type UnauthorizedReason,
} from "./errors.js";
export { Identity, type IdentityChange } from "./identity.js";
export { type PassageReader, readFor } from "./read-for.js";
export type { ChatClientOptions, ResponseInfo, TokenProvider } from "./request.js";
export { safeUrl } from "./safe-url.js";
export { search, searchStatements } from "./search.js";
export { SessionTracker } from "./session.js";
export { streamChat } from "./stream-chat.js";
export type {
  AnswerMode,
  AnswerSetting,
  ChatConfig,
  ChatEvent,
  ChatRequest,
  Citation,
  DecidedBy,
  DropReason,
  EvidenceStrength,
  Feedback,
  FeedbackReason,
  FoundPassage,
  FoundStatements,
  GenerationFallback,
  GenerationReport,
  LinkMode,
  MessagePage,
  PageRequest,
  PassageBlock,
  PassageLayout,
  PassageMark,
  PassageStatements,
  Quote,
  QuotePiece,
  Rating,
  Reading,
  RefusalEvent,
  RefusalReason,
  SearchRequest,
  SearchResult,
  Searched,
  Session,
  SessionPage,
  StatementsRequest,
  StoredMessage,
  Suggestion,
  Support,
} from "./wire.js";
