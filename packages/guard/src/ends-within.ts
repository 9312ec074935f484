/** Whether a promise settles in time. Rejects with it. */
export function endsWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, false);
    ended
      .finally(() => clearTimeout(timer))
      .then(
        () => resolve(true),
        (cause: unknown) => reject(cause as Error),
      );
  });
}
