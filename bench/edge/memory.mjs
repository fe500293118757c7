// Whether the memory of the Worker and of workerd stays flat over thousands of requests, and the peak while clients read the largest
// responses concurrently, with the stand-in for Supabase. Environment: WORKER_URL (measured-worker.mjs), WORKER_PID, CONSTANT_WORKER_URL,
// CONSTANT_WORKER_PID, STAND_IN_URL, JWT_SECRET, QUESTIONS, REQUESTS. The Worker's limits must be above what this sends.
import { setTimeout as sleep } from "node:timers/promises";
import { connections, get, post, readOutcome } from "./lib/client.mjs";
import { LARGEST } from "./lib/largest.mjs";
import { watchMemory } from "./lib/memory.mjs";
import { chatBody, loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";
import { accessToken } from "./lib/tokens.mjs";

const CLIENTS = 8;
/** Few users, so that SQLite's cache of each user's outcomes is full when the warm-up ends. */
const USERS = 10;
/** So long does the memory of workerd itself grow, whatever the Worker does. */
const WARM_UP = 20_000;
/** The requests of all users of an isolate share 128 MB. */
const LARGE_CLIENTS = 32;
const LARGE_SECONDS = 20;
const LARGE_INTERVAL_MS = 20;
const SETTLING_MS = 3000;

const MEASURED = Number(setting("REQUESTS"));
/** Between the middles of the first and the last quarter. */
const SHARE_BETWEEN_QUARTERS = 0.75;
const MIB = 2 ** 20;
const signer = { issuer: `${setting("STAND_IN_URL")}/auth/v1`, secret: setting("JWT_SECRET") };
const questions = loadQuestions();
const newToken = () => accessToken(crypto.randomUUID(), signer);
const tokens = Array.from({ length: USERS }, newToken);

const ordinary = await measureGrowth("WORKER", readWasmMib);
// The same requests to a Worker that makes the same calls to Supabase and a Durable Object and answers with a constant.
// Memory that grows there as well belongs to the runtime, not to our Worker.
const constant = await measureGrowth("CONSTANT_WORKER");
const largest = await measureLargest();
// A WebAssembly memory never shrinks, so this is its peak.
const largestWasm = await readWasmMib();

console.log(
  JSON.stringify({
    figures: [
      ["memory_wasm_growth_mib", ordinary.lastWasm - ordinary.firstWasm],
      ["memory_wasm_mib", ordinary.lastWasm],
      ["memory_growth_mib", ordinary.last - ordinary.first],
      ["memory_growth_bytes_per_request", bytesPerRequest(ordinary)],
      ["memory_first_quarter_mib", ordinary.first],
      ["memory_last_quarter_mib", ordinary.last],
      ["memory_constant_worker_growth_mib", constant.last - constant.first],
      ["memory_constant_worker_growth_bytes_per_request", bytesPerRequest(constant)],
      ["memory_largest_peak_mib", largest.peak - largest.idle],
      ["memory_largest_settled_mib", largest.settled - largest.idle],
      ["memory_largest_wasm_mib", largestWasm],
      ["memory_largest_requests_per_second", Math.round(largest.requests / LARGE_SECONDS)],
    ],
    context: {
      memory_requests: MEASURED,
      memory_mib_by_second: ordinary.samples,
      memory_constant_worker_mib_by_second: constant.samples,
      memory_largest_clients: LARGE_CLIENTS,
      memory_largest_idle_mib: largest.idle,
      memory_largest_statuses: largest.statuses,
    },
  }),
);

function bytesPerRequest({ first, last }) {
  return Math.round(((last - first) * MIB) / (MEASURED * SHARE_BETWEEN_QUARTERS));
}

/** The WebAssembly memory of the Worker. */
async function readWasmMib() {
  const response = await fetch(`${setting("WORKER_URL")}/bench/wasm-bytes`);
  if (!response.ok) throw new Error(`no size of the WebAssembly memory: status ${response.status}`);
  return Number(await response.text()) / MIB;
}

/** Resident memory of a Worker while it answers ordinary questions, once its caches are full, and what `readWasm` says before and after. */
async function measureGrowth(name, readWasm = async () => 0) {
  const url = `${setting(`${name}_URL`)}/api/chat`;
  const agent = connections(CLIENTS);
  let sent = 0;
  const askUntil = async (count) => {
    const ask = async () => {
      while (sent < count) {
        const number = sent++;
        const body = chatBody(questions[number % questions.length]);
        readOutcome(await post(url, { agent, token: tokens[number % USERS], body }));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, ask));
  };
  await askUntil(WARM_UP);
  const firstWasm = await readWasm();
  const stopWatching = watchMemory(Number(setting(`${name}_PID`)));
  await askUntil(WARM_UP + MEASURED);
  agent.destroy();
  return { ...stopWatching(), firstWasm, lastWasm: await readWasm() };
}

/** Resident memory while clients continuously read the largest pages and ask the questions with the largest outcomes. */
async function measureLargest() {
  const url = setting("WORKER_URL");
  const pid = Number(setting("WORKER_PID"));
  const idle = await settledMemory(pid);
  const agent = connections(LARGE_CLIENTS);
  const statuses = {};
  let requests = 0;
  const stopWatching = watchMemory(pid, LARGE_INTERVAL_MS);
  const endAt = performance.now() + LARGE_SECONDS * 1000;
  const client = async (_, index) => {
    const token = newToken();
    while (performance.now() < endAt) {
      const kind = LARGEST[index % LARGEST.length];
      const { status } = kind.path
        ? await get(url + kind.path, { agent, token })
        : await post(`${url}/api/chat`, { agent, token, body: { ...chatBody(questions[0]), message: kind.message } });
      const key = `${kind.name} ${status}`;
      statuses[key] = (statuses[key] ?? 0) + 1;
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: LARGE_CLIENTS }, client));
  agent.destroy();
  const { peak } = stopWatching();
  return { idle, peak, settled: await settledMemory(pid), statuses, requests };
}

async function settledMemory(pid) {
  const stop = watchMemory(pid, SETTLING_MS / 10);
  await sleep(SETTLING_MS);
  return stop().last;
}
