import { readFileSync, readdirSync } from "node:fs";
import { median } from "./statistics.mjs";

const INTERVAL_MS = 1000;

/**
 * Samples the resident memory of workerd.
 * @param {number} parent the process that started it, directly or not
 * @param {number} [intervalMs] between two samples
 * @returns {() => { first: number, last: number, peak: number, samples: number[] }} stops sampling; returns the medians of the
 *   first and the last quarter, the peak and all samples, in MiB
 */
export function watchMemory(parent, intervalMs = INTERVAL_MS) {
  const pid = findWorkerd(parent);
  const samples = [residentMib(pid)];
  const timer = setInterval(() => samples.push(residentMib(pid)), intervalMs);
  return () => {
    clearInterval(timer);
    const quarter = Math.ceil(samples.length / 4);
    return {
      first: Math.round(median(samples.slice(0, quarter))),
      last: Math.round(median(samples.slice(-quarter))),
      peak: Math.round(Math.max(...samples)),
      samples: samples.map(Math.round),
    };
  };
}

/** The process id of the workerd that a process started, directly or not. */
export function findWorkerd(ancestor) {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const descends = (pid) => pid === ancestor || (parents.has(pid) && descends(parents.get(pid)));
  const workerd = processes.find(({ name, pid }) => name === "workerd" && descends(pid));
  if (!workerd) throw new Error(`process ${ancestor} started no workerd`);
  return workerd.pid;
}

function readProcess(pid) {
  try {
    // pid (name) state parent …
    const match = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
    const [, name, parent] = /** @type {RegExpExecArray} */ (match);
    return [{ pid: Number(pid), name, parent: Number(parent) }];
  } catch {
    // It ended in the meantime.
    return [];
  }
}

/** The resident memory of a process. */
export function residentMib(pid) {
  const match = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  const [, kib] = /** @type {RegExpExecArray} */ (match);
  return Number(kib) / 1024;
}
