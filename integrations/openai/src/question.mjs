import { invalidRequest } from "./errors.mjs";

/** The name of the model that is the default assistant. Another assistant is `evidence-chat/` and its name. */
export const MODEL_NAME = "evidence-chat";
/** The Worker takes no longer question, so a vector of it would only cost time. */
const MAX_QUESTION_CHARS = 4000;

/**
 * Fields that would change the form or the meaning of the response, with the values that do not, and why others are rejected: their
 * effect would be missing in silence.
 * @type {[name: string, isAcceptable: (value: any) => boolean, message: string][]}
 */
const UNSUPPORTED = [
  ["n", (value) => value === 1, "n must be 1: there is one answer to a question"],
  ["tools", isEmpty, "tools are not supported"],
  ["functions", isEmpty, "functions are not supported"],
  ["response_format", ({ type }) => type === "text", "response_format must be of the type text: answers are text"],
  ["modalities", (value) => JSON.stringify(value) === '["text"]', 'modalities must be ["text"]'],
  ["logprobs", (value) => value === false, "logprobs are not available"],
];

/**
 * Parses the body of `POST /v1/chat/completions`. The Worker checks the fields that are its own.
 * @param {any} body
 */
export function parseQuestion(body) {
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    throw invalidRequest("the body must be a JSON object");
  }
  for (const [name, isAcceptable, message] of UNSUPPORTED) {
    const value = body[name] ?? undefined;
    if (value !== undefined && !isAcceptable(value)) throw invalidRequest(message, name);
  }
  const { model, messages, message_id, session_id, include_citations, mode } = body;
  const stream = body.stream ?? false;
  if (typeof model !== "string" || model === "") throw invalidRequest("model must be the name of a model", "model");
  if (typeof stream !== "boolean") throw invalidRequest("stream must be true or false", "stream");
  const prefix = `${MODEL_NAME}/`;
  return {
    model,
    isStreamed: stream,
    /** `undefined` for the default assistant, which clients also ask with any other name of a model. */
    assistant: model.startsWith(prefix) ? model.slice(prefix.length) : undefined,
    ...questionsOf(messages),
    messageId: message_id ?? crypto.randomUUID(),
    options: { session_id, include_citations, mode },
  };
}

/** The last question of the user and the one before it, which a follow-up leans on. */
function questionsOf(/** @type {unknown} */ messages) {
  if (!Array.isArray(messages)) throw invalidRequest("messages must be an array", "messages");
  const [last, before] = messages.filter((message) => message?.role === "user").reverse();
  if (!last) throw invalidRequest("messages must have one with the role user: it is the question", "messages");
  const question = textOf(last);
  if (question === undefined) throw invalidRequest("the last user message must consist of text", "messages");
  if (question === "") throw invalidRequest("the last user message is empty: type a question", "messages");
  // UTF-16 has at most two units for a character.
  if ([...question.slice(0, 2 * MAX_QUESTION_CHARS + 1)].length > MAX_QUESTION_CHARS) {
    const message = `the last user message must have at most ${MAX_QUESTION_CHARS} characters`;
    throw invalidRequest(message, "messages");
  }
  if (isTaskOfOpenWebUi(question)) {
    throw invalidRequest(
      "This is a prompt of Open WebUI for a language model and not a question. Choose another model for tasks in its settings.",
    );
  }
  const questionBefore = before && textOf(before);
  return { question, questionBefore: questionBefore && isTaskOfOpenWebUi(questionBefore) ? undefined : questionBefore };
}

/** The text of a message; `undefined` if it has other parts. */
function textOf(/** @type {{ content?: unknown }} */ { content }) {
  const parts = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const texts = parts.map((part) => (part?.type === "text" ? part.text : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("\n").trim() : undefined;
}

/**
 * Open WebUI asks the model of a chat for its title, tags, follow-up questions and search terms, and puts the text of attached files
 * before a question. All of its templates begin like this, and none of them is a question for a knowledge base.
 */
function isTaskOfOpenWebUi(/** @type {string} */ question) {
  return question.startsWith("### Task:\n");
}

function isEmpty(/** @type {unknown} */ value) {
  return Array.isArray(value) && value.length === 0;
}
