import { ATTEMPTS_BAR } from '../judge/bars.js';
import type { Told } from './envelope.js';
import type { Seen } from './requests.js';

/**
 * Where what a call says of itself and what the upstream saw of it cannot both be true, or where it
 * failed before it had tried as often as it may.
 */
export function contradiction(told: Told, seen: Seen, hedged: boolean): string | undefined {
  const { success, retries } = told;
  const { extra, answered, distinct, attemptsInVain } = seen;
  // A hedge is another attempt and not a retry.
  if (hedged ? retries > extra : retries !== extra) {
    return `says ${retries} retries, the upstream saw ${extra}`;
  }
  if (success && answered === 0) return 'says success, and nothing was answered undisturbed';
  if (!success && answered === distinct) return 'says failure, and everything was answered';
  // While hedges run, an attempt may be the last one by the clock.
  if (!success && !hedged && attemptsInVain < ATTEMPTS_BAR) {
    return `gave up after ${attemptsInVain} attempts`;
  }
  return undefined;
}
