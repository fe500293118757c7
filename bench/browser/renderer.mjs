// The renderer process of a page: its CPU time and memory, read from /proc (Linux).
import { readdir, readFile } from "node:fs/promises";

const SPIN_MS = 200;
const TRIES = 10;

/** The renderer of this page. Chromium has others, spare ones and those of its own pages; the busy one belongs to this page. */
export async function findRenderer(page) {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await cpuTimes();
    await page.evaluate(spin, SPIN_MS);
    const used = [...(await cpuTimes())].map(([pid, time]) => ({ pid, milliseconds: time - (before.get(pid) ?? 0) }));
    const [first, second] = used.sort((a, b) => b.milliseconds - a.milliseconds);
    // On a busy machine the page may get little CPU time while it spins.
    if (first?.milliseconds > SPIN_MS / 5 + 3 * (second?.milliseconds ?? 0)) return new Renderer(first.pid);
  }
  throw new Error("cannot find the renderer process of the page");
}

/** Runs in the page: keeps its thread busy, so that its process can be identified by its CPU time. */
function spin(milliseconds) {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

class Renderer {
  #pid;

  constructor(pid) {
    this.#pid = pid;
  }

  /** Milliseconds of CPU time that all its threads have used. */
  cpuMs() {
    return cpuMs(this.#pid);
  }

  /** Resident memory now and at its peak, in MiB. */
  async memoryMib() {
    const status = await readFile(`/proc/${this.#pid}/status`, "utf8");
    const kib = (name) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m"))?.[1]);
    return { now: kib("VmRSS") / 1024, peak: kib("VmHWM") / 1024 };
  }
}

async function cpuTimes() {
  const times = new Map();
  for (const pid of await ownRenderers()) {
    // A process may end at any moment.
    const time = await cpuMs(pid).catch(() => null);
    if (time !== null) times.set(pid, time);
  }
  return times;
}

async function cpuMs(pid) {
  let nanoseconds = 0;
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const schedule = await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0");
    nanoseconds += Number(schedule.split(" ")[0]);
  }
  return nanoseconds / 1e6;
}

async function ownRenderers() {
  const parents = new Map();
  const renderers = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    const [stat, commandLine] = await Promise.all([read("stat"), read("cmdline")]);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    if (commandLine.includes("--type=renderer")) renderers.push(Number(name));
  }
  const isDescendant = (pid) => pid === process.pid || (pid > 1 && parents.has(pid) && isDescendant(parents.get(pid)));
  return renderers.filter(isDescendant);
}
