/**
 * The numbers that everybody is given, ours and the rivals, as far as they have such a setting. The times
 * are short so that the self-check does not have to wait; on the way of a success none of them matters.
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
