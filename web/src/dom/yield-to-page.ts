interface PageWithScheduler {
  readonly scheduler?: { yield?(): Promise<void> };
}

/** Lets the page draw and handle input before this code goes on, so that no task blocks its thread for long. */
export function yieldToPage(): Promise<void> {
  // It rejects if the page calls the widget in a task of its own that it aborts.
  return (globalThis as PageWithScheduler).scheduler?.yield?.().catch(nextTask) ?? nextTask();
}

/** Unlike a timer, it is not delayed in a hidden tab. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** A frame of another site that is out of view draws no frames and does not know that. */
const MAX_FRAME_MS = 100;

/** Resolves when the page has drawn what has changed, or will not for a while. */
export function frameDrawn(): Promise<void> {
  // Its timers may run once a second.
  if (document.hidden) return nextTask();
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, MAX_FRAME_MS);
  });
}
