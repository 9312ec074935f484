import type { Bounds } from '../config/types.js';

/** The first and the last whole number within all of these; the first is greater if there is none. */
export function wholeWithin(all: readonly Bounds[]): readonly [number, number] {
  const low = Math.max(
    ...all.flatMap(({ gt = -Infinity, gte = -Infinity }) => [Math.floor(gt) + 1, Math.ceil(gte)]),
  );
  const high = Math.min(
    ...all.flatMap(({ lt = Infinity, lte = Infinity }) => [Math.ceil(lt) - 1, Math.floor(lte)]),
  );
  return [low, high];
}

export function hasNoWhole(all: readonly Bounds[]): boolean {
  const [low, high] = wholeWithin(all);
  return low > high;
}
