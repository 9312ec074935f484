import { change } from '../../report/format.js';
import type { Measured, Ratio } from '../measure/measured.js';

/** How far apart two arms that do the same may lie. */
const NOISE_BAR = 1.1;

/**
 * The rule, fixed before any run: a scenario counts if the 95 % interval of the p95 of the arm without
 * faults, made a second time, against the p95 of the first lies within ÷1.10 and ×1.10. Else it is
 * made once more as a whole, and if that does not count either, nothing is said about its p95.
 */
export const noiseRule = `The baseline is measured twice, in two arms that differ in nothing. A latency class counts if the 95 % interval of the ratio of their p95 lies between ${change(1 / NOISE_BAR)} and ${change(NOISE_BAR)}. If it does not, the class is run once more as a whole; if that does not count either, its p95 is not judged and the drill ends with exit code 3.`;

export interface Noise {
  readonly ratio: Ratio;
  readonly counts: boolean;
}

export function judgeNoise({ ratios }: Pick<Measured, 'ratios'>): Noise {
  const { again } = ratios;
  if (!again) throw new Error('the baseline was measured only once');
  return { ratio: again, counts: again.low >= 1 / NOISE_BAR && again.high <= NOISE_BAR };
}
