// A fake of wasm/verifier.js: keeps every complete sentence but those with the word "wrong", at most three. The word "crash" is a
// trap, after which every call throws.

export default async function init({ module_or_path: response }) {
  if (!(await response).ok) throw new Error("no verifier");
}

export class Verification {
  #input;
  #held = "";
  #deltas = [];
  #dropped = 0;
  #usage = {};
  #crashed = false;

  constructor(input) {
    this.#input = JSON.parse(input);
  }

  messages(tag, share) {
    if (!/^[a-z2-7]{8}$/.test(tag)) throw new Error(`not a tag: ${tag}`);
    const { question } = this.#input;
    return JSON.stringify([
      { role: "system", content: "Answer from the sources." },
      { role: "user", content: share === 1 ? question : question.replace('"tokens":1001', '"tokens":501') },
    ]);
  }

  push(output) {
    this.#crashed ||= output.includes("crash");
    this.#assertRuns();
    this.#held += output;
    const sentences = this.#held.match(/[^.]+\./g) ?? [];
    this.#held = this.#held.slice(sentences.join("").length);
    const kept = sentences.filter((sentence) => !sentence.includes("wrong"));
    this.#dropped += sentences.length - kept.length;
    const deltas = kept.slice(0, 3 - this.#deltas.length).map((sentence) => `${sentence} [1]`);
    this.#deltas.push(...deltas);
    return deltas;
  }

  isDone() {
    return this.#deltas.length === 3;
  }

  end(isWhole) {
    return isWhole && this.#held.trim() !== "" ? this.push(".") : [];
  }

  setUsage(promptTokens, completionTokens) {
    this.#usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
  }

  finish(fault) {
    this.#assertRuns();
    const [deltas, { citations, model }] = [this.#deltas, this.#input];
    const fallback = fault ?? "unsupported";
    const generation = { model, sentences: deltas.length, dropped: { number: this.#dropped }, ...this.#usage };
    return JSON.stringify(
      deltas.length > 0
        ? { answer: { deltas, citations, referenced_indices: [1] }, generation }
        : { generation: { ...generation, fallback } },
    );
  }

  free() {
    this.#assertRuns();
  }

  #assertRuns() {
    if (this.#crashed) throw new WebAssembly.RuntimeError("unreachable");
  }
}
