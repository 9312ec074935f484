import type { Told } from './envelope.js';
import type { Seen } from './requests.js';

/** Where what a call says of itself and what the upstream saw of it cannot both be true. */
export function contradiction(told: Told, seen: Seen, hedged: boolean): string | undefined {
  const { success, retries } = told;
  const { extra, answered, distinct } = seen;
  // A hedge is another attempt and not a retry.
  if (hedged ? retries > extra : retries !== extra) {
    return `says ${retries} retries, the upstream saw ${extra}`;
  }
  if (success && answered === 0) return 'says success, and nothing was answered undisturbed';
  if (!success && answered === distinct) return 'says failure, and everything was answered';
  return undefined;
}
