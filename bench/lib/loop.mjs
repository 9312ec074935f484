/**
 * Imported twice under two names, so that the engine optimises the bare and the wrapped loop apart. The event
 * loop turns once a batch: timers that are due and finalizers belong to the bill.
 *
 * @param {() => Promise<unknown>} call
 * @param {number} times
 */
export const loop = async (call, times) => {
  for (let i = 0; i < times; i++) await call();
  await new Promise((resolve) => void setImmediate(resolve));
};
