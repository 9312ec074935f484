/** What a promise brings, unless it takes longer than that. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  if (ms === Infinity) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const why = new Error(`no answer within ${Math.max(0, Math.round(ms))} ms`);
    timer = setTimeout(() => reject(why), Math.max(0, ms));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
