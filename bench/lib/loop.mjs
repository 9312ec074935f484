/**
 * Imported twice under two names, so that the engine optimises the bare and the wrapped loop separately. The
 * event loop turns once a batch, so that due timers and finalizers are included.
 *
 * @param {() => Promise<unknown>} call
 * @param {number} times
 */
export const loop = async (call, times) => {
  for (let i = 0; i < times; i++) await call();
  await new Promise((resolve) => void setImmediate(resolve));
};
