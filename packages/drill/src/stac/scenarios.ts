import { fastFaults, type FaultRule } from '@toolkeel/sandbox';
import { duration } from '../report/table.js';

/** `baseline` and `again` are identical: their difference measures the noise of the machine. */
export type VariantName = 'baseline' | 'again' | 'faulted' | 'hedged';

export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  readonly faults: readonly FaultRule[];
  readonly hedge: boolean;
}

export type FaultMode = 'fast' | 'mix';

/** One latency and one fault mode. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly mode: FaultMode;
  /** The p95 of the upstream's own latency. */
  readonly p95Ms: number;
  readonly variants: readonly Variant[];
  /** Concurrent calls. */
  readonly callers: number;
  /** Distinct for every scenario. */
  readonly randomStream: number;
}

export const FAULT_RATE = 0.2;
/** The share of faults that are timeouts, in the mix. */
export const TIMEOUT_SHARE = 0.2;
export const SIGMA = 0.5;

const baseline: Variant = { name: 'baseline', title: 'no faults', faults: [], hedge: false };
const again: Variant = { ...baseline, name: 'again', title: 'no faults, again' };

const variants: Readonly<Record<FaultMode, readonly Variant[]>> = {
  fast: [
    baseline,
    {
      name: 'faulted',
      title: '20 % fast faults',
      faults: [{ kind: fastFaults, rate: FAULT_RATE }],
      hedge: false,
    },
    again,
  ],
  mix: [
    baseline,
    {
      name: 'faulted',
      title: '20 % faults, one in five a timeout, hedging',
      faults: [
        { kind: fastFaults, rate: FAULT_RATE * (1 - TIMEOUT_SHARE) },
        { kind: 'stall', rate: FAULT_RATE * TIMEOUT_SHARE },
      ],
      hedge: true,
    },
    again,
    { name: 'hedged', title: 'no faults, hedging', faults: [], hedge: true },
  ],
};

export function scenario(mode: FaultMode, p95Ms: number): Scenario {
  const what = mode === 'fast' ? 'fast faults' : 'one fault in five a timeout, hedging';
  return {
    id: `${mode}/${p95Ms}`,
    title: `${duration(p95Ms)}, ${what}`,
    mode,
    p95Ms,
    variants: variants[mode],
    callers: callersFor(p95Ms),
    randomStream: 2 * p95Ms + (mode === 'mix' ? 1 : 0),
  };
}

/**
 * Few enough to leave the machine mostly idle: on two cores the server then adds the same two to five
 * milliseconds a call as with a single caller.
 */
function callersFor(p95Ms: number): number {
  return Math.min(20, Math.max(4, Math.round(p95Ms / 20)));
}
