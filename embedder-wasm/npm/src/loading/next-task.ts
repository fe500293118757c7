/** Node.js only. */
declare const setImmediate: ((task: () => void) => unknown) | undefined;

/**
 * Runs `task` after the messages and events that are already queued. Unlike timers, it is not throttled to 4 ms, nor to
 * once a minute in a hidden tab.
 */
export const nextTask: (task: () => void) => void =
  typeof setImmediate === "function" ? (task) => void setImmediate(task) : viaMessageChannel();

function viaMessageChannel(): (task: () => void) => void {
  const tasks: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => tasks.shift()?.();
  return (task) => {
    tasks.push(task);
    port2.postMessage(null);
  };
}
