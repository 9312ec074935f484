import { draw, exponential } from './draws.js';

/** Times at which the upstream is down, in order. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** Outages that come and go at random, so that the upstream is down for a share of the time. */
export function randomOutages(options: {
  readonly seed: number;
  readonly meanMs: number;
  readonly share: number;
  readonly untilMs: number;
}): readonly Outage[] {
  const { seed, meanMs, share, untilMs } = options;
  const meanUpMs = (meanMs * (1 - share)) / share;
  const outages: Outage[] = [];
  let at = 0;
  for (let n = 0; at < untilMs; n++) {
    const from = at + exponential(draw(seed, 'outage', n, 0), meanUpMs);
    at = from + exponential(draw(seed, 'outage', n, 1), meanMs);
    outages.push({ from, to: at });
  }
  return outages;
}

/** Says whether the upstream is down. Ask in the order of time. */
export function outageWatch(outages: readonly Outage[]): (now: number) => boolean {
  let next = 0;
  return (now) => {
    while (next < outages.length && outages[next]!.to <= now) next++;
    return next < outages.length && outages[next]!.from <= now;
  };
}
