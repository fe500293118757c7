/**
 * A deliberately plain reader of a complete stream of chat completion chunks.
 * @param {Response} response
 */
export async function readStream(response) {
  const body = (await response.text()).replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const events = body
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim());
  const isDone = events.at(-1) === "[DONE]";
  const chunks = (isDone ? events.slice(0, -1) : events).map((event) => JSON.parse(event));
  const choices = chunks.flatMap(({ choices }) => choices ?? []);
  return {
    chunks,
    isDone,
    text: choices.map(({ delta }) => delta.content ?? "").join(""),
    finishReason: choices.at(-1)?.finish_reason,
    usage: chunks.find(({ usage }) => usage)?.usage,
  };
}
