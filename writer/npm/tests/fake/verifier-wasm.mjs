// A fake of wasm/verifier.js: keeps every complete sentence but those with the word "wrong", at most three. The word "crash" is a
// trap, after which every call throws.

export default async function init({ module_or_path: response }) {
  if (!(await response).ok) throw new Error("no verifier");
}

export class Verification {
  #given;
  #held = "";
  #deltas = [];
  #dropped = 0;
  #crashed = false;

  constructor(question, citations, _hedged, model) {
    this.#given = { question, citations: JSON.parse(citations), model };
  }

  messages(tag, share) {
    if (!/^[a-z0-9]{8}$/.test(tag)) throw new Error(`not a tag: ${tag}`);
    const { question } = this.#given;
    return JSON.stringify([
      { role: "system", content: "Answer from the sources." },
      { role: "user", content: share === 1 ? question : `${question} (short)` },
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
    this.#deltas.push(...kept.slice(0, 3 - this.#deltas.length).map((sentence) => `${sentence} [1]`));
    return this.#deltas.length === 3;
  }

  finish(ending, promptTokens, completionTokens) {
    if (ending === "whole" && this.#held.trim() !== "") this.push(".");
    this.#assertRuns();
    const [deltas, { citations, model }] = [this.#deltas, this.#given];
    const fallback = ending === "timeout" || ending === "error" ? ending : "unsupported";
    const usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
    const generation = { model, sentences: deltas.length, dropped: { number: this.#dropped }, ...usage };
    return JSON.stringify(
      deltas.length > 0
        ? { answer: { deltas, citations, referenced_indices: [1] }, generation }
        : { answer: null, generation: { ...generation, fallback } },
    );
  }

  #assertRuns() {
    if (this.#crashed) throw new WebAssembly.RuntimeError("unreachable");
  }
}
