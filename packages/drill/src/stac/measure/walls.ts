import { quantileOf, sorted } from '../../stats/quantile.js';
import type { CallRecord } from '../run/record.js';

export function wallsOf(records: readonly CallRecord[]): Float64Array {
  return Float64Array.from(records, ({ wallMs }) => wallMs);
}

/** How long calls took, as far as the figures show it. */
export interface Walls {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
}

export function wallFigures(records: readonly CallRecord[]): Walls {
  const inOrder = sorted(wallsOf(records));
  return {
    p50Ms: quantileOf(inOrder, 0.5),
    p95Ms: quantileOf(inOrder, 0.95),
    maxMs: quantileOf(inOrder, 1),
  };
}

const STEPS = 200;

/** The whole distribution for a picture: its quantiles from 0 to 1 in equal steps. */
export function curveOf(records: readonly CallRecord[]): number[] {
  const inOrder = sorted(wallsOf(records));
  return Array.from({ length: STEPS + 1 }, (_, step) => quantileOf(inOrder, step / STEPS));
}
