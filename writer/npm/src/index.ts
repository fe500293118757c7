/** A language model in the browser, from a GGUF file or built in, whose sentences are checked against given passages. */
export { type BuiltInOptions, type BuiltInStatus, builtInStatus, builtInWriter } from "./built-in.js";
export { createWriter, type WriterOptions } from "./create-writer.js";
export { WriterError, type WriterErrorCode } from "./errors.js";
export { hasModel, type ModelDescription, modelSize } from "./model-file.js";
export { type AnswerInput, type AnswerOptions, writeAnswer, type WrittenAnswer } from "./write-answer.js";
export type { ChatMessage, LoadProgress, WriteOptions, Writer, WriteResult } from "./writer.js";
