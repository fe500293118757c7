/** A language model in the browser, from a GGUF file or built in, whose sentences are checked against given passages. */
export { type BuiltInOptions, type BuiltInStatus, builtInStatus, builtInWriter } from "./built-in.js";
export { createWriter, isSupported } from "./create-writer.js";
export { WriterError, type WriterErrorCode } from "./errors.js";
export { deleteModel, hasModel } from "./cached.js";
export { modelSize } from "./model-size.js";
export type { LoadProgress, ModelDescription, WriterOptions } from "./options.js";
export {
  type AnswerInput,
  type AnswerOptions,
  type GenerationReport,
  type VerifiedAnswer,
  writeAnswer,
  type WrittenAnswer,
} from "./write-answer.js";
export type { ChatMessage, WriteOptions, Writer, WriteResult } from "./writer.js";
