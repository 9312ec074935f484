/** Rejects if the promise does not settle in time. */
export async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  if (ms === Infinity) return promise;
  let timer: NodeJS.Timeout | undefined;
  const limitMs = Math.max(0, ms);
  const timeout = new Promise<never>((_resolve, reject) => {
    const error = new Error(`no response within ${Math.round(limitMs)} ms`);
    timer = setTimeout(() => reject(error), limitMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Caches the result of `load`. The next call retries after a failure. */
export function cacheUntilFailure<T>(load: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined;
  return () => {
    if (!cached) {
      const loading = load();
      cached = loading;
      loading.catch(() => {
        cached = undefined;
      });
    }
    return cached;
  };
}
