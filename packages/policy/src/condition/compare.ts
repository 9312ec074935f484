import type { Bounds, Scalar } from '../config/types.js';
import { truth, type Truth } from './truth.js';

/**
 * `5` and `"5"` are not the same, but an upstream may take them for the same, so that it cannot be
 * told. A list or an object is never the same as a plain value.
 */
export function isSame(value: unknown, wanted: Scalar): Truth {
  if (value === wanted) return 'yes';
  const isPlain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (!isPlain || typeof value === typeof wanted) return 'no';
  return String(value) === String(wanted) ? 'unknown' : 'no';
}

/** A plain decimal in a text counts as a number, because amounts often come as texts. */
export function within(value: unknown, bounds: Bounds): Truth {
  const amount = typeof value === 'string' ? decimal(value) : value;
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return 'unknown';
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = bounds;
  return truth(amount > gt && amount >= gte && amount < lt && amount <= lte);
}

function decimal(text: string): number | undefined {
  return text.length < 400 && /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** `more than 5 and at most 10`. */
export function boundsWords({ gt, gte, lt, lte }: Bounds): string {
  const words = [
    gt === undefined ? [] : [`more than ${gt}`],
    gte === undefined ? [] : [`at least ${gte}`],
    lt === undefined ? [] : [`less than ${lt}`],
    lte === undefined ? [] : [`at most ${lte}`],
  ];
  return words.flat().join(' and ');
}

/** Whether no number lies within all of them. `least`: numbers that are less do not count. */
export function isEmptyRange(all: readonly Bounds[], least = -Infinity): boolean {
  const low = Math.max(least, ...all.flatMap(({ gt = -Infinity, gte = -Infinity }) => [gt, gte]));
  const high = Math.min(...all.flatMap(({ lt = Infinity, lte = Infinity }) => [lt, lte]));
  const isOpen = all.some(({ gt, lt }) => gt === low || lt === high);
  return low > high || (low === high && isOpen);
}
