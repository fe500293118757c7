/** In milliseconds. Storage may not answer, for example during a permission prompt. Then the download goes on without it. */
export const MAX_STORE_MS = 5000;

/** The result of `task`; rejects if it takes longer. */
export function within<T>(task: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no result after ${milliseconds} ms`)), milliseconds);
    task.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
