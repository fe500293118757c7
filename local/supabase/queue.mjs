/**
 * Runs asynchronous tasks strictly one after another.
 * @returns {<T>(task: () => Promise<T>) => Promise<T>}
 */
export function createQueue() {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
}
