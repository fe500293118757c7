/** The result of `task`; rejects if it takes longer. */
export function within<T>(task: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no result after ${milliseconds} ms`)), milliseconds);
    task.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
