/**
 * The settings of every library that has them. The times are short for the self-check; they do not affect a
 * successful call.
 */
export const settings = Object.freeze({
  retries: 2,
  backoffMs: 1,
  timeoutMs: 200,
  /** A circuit opens when 70 % of at least 20 attempts within 10 s have failed. */
  failureShare: 0.7,
  minimumAttempts: 20,
  windowMs: 10_000,
  openMs: 50,
});
