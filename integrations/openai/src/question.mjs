/**
 * The text that the Worker reads as the question: that of the last message of the user. `undefined` if there is none or it has other
 * parts than text; the Worker's error says so.
 * @param {unknown} messages
 * @returns {string | undefined}
 */
export function questionOf(messages) {
  const content = lastUserMessage(messages)?.content;
  const text = Array.isArray(content) ? textOf(content) : content;
  return typeof text === "string" ? text.trim() : undefined;
}

/** @param {unknown} messages */
export function lastUserMessage(messages) {
  return Array.isArray(messages) ? messages.findLast((message) => message?.role === "user") : undefined;
}

/**
 * Open WebUI asks the model of a chat for its title, tags, follow-up questions and search terms, and puts the text of attached files
 * before a question. All of its templates begin like this, and none of them is a question for a knowledge base.
 * @param {string} question
 */
export function isTaskOfOpenWebUi(question) {
  return question.startsWith("### Task:\n");
}

/** @param {any[]} parts */
function textOf(parts) {
  const texts = parts.map((part) => (part?.type === "text" ? part.text : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}
