interface PageWithScheduler {
  readonly scheduler?: { yield?(): Promise<void> };
}

/** Lets the page draw and handle input before this code goes on, so that no task blocks its thread for long. */
export function yieldToPage(): Promise<void> {
  return (globalThis as PageWithScheduler).scheduler?.yield?.() ?? nextTask();
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
