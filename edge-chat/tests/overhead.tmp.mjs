import { startScriptedModel } from "../../tests/generation/support/scripted-model.mjs";
import { ask, question } from "./support/client.mjs";
import { passage, startUpstream } from "./support/upstream.mjs";
import { startTestWorker } from "./support/worker.mjs";
const upstream = await startUpstream();
upstream.defaults["rpc/match_chunks"] = () => ({ body: [passage()] });
const model = await startScriptedModel({ scenario: "ok", deltas: ["Refunds are paid ", "within 5 days. [1]"] });
const worker = await startTestWorker(upstream, { CHAT_ANSWER_MODE: "endpoint", CHAT_LLM_URL: model.url, CHAT_LLM_MODEL: "m", CHAT_RATE_LIMIT: "10000", CHAT_LLM_DAILY_TOKENS_USER: "1000000000" , CHAT_LLM_DAILY_TOKENS_SITE: "1000000000" });
const N = 150;
const run = async (fields) => {
  const ms = [];
  for (let i = 0; i < N; i++) {
    const user = crypto.randomUUID();
    const t = performance.now();
    await ask(worker.url, user, question(fields));
    ms.push(performance.now() - t);
  }
  return ms.sort((a, b) => a - b);
};
const direct = async () => {
  const ms = [];
  for (let i = 0; i < N; i++) {
    const t = performance.now();
    await (await fetch(`${model.url}/chat/completions`, { method: "POST", body: "{}" })).text();
    ms.push(performance.now() - t);
  }
  return ms.sort((a, b) => a - b);
};
const p = (list, q) => list[Math.floor(list.length * q)].toFixed(1);
await run({}); await run({ mode: "extractive" });
for (let round = 0; round < 3; round++) {
  const [w, e, d] = [await run({}), await run({ mode: "extractive" }), await direct()];
  console.log(`written p50 ${p(w, .5)} p95 ${p(w, .95)}; extractive p50 ${p(e, .5)} p95 ${p(e, .95)}; model alone p50 ${p(d, .5)}; overhead p50 ${(p(w, .5) - p(e, .5) - p(d, .5)).toFixed(1)}`);
}
await worker.close(); upstream.close(); await model.close();
