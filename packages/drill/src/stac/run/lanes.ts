/** Applies `work` to all, at most so many at a time, each taking the next as soon as it is done. */
export async function inLanes<T, R>(
  all: readonly T[],
  lanes: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) results[at] = await work(all[at]!);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
