import { arms, type Arm, type ArmName } from '../arms/index.js';
import { variant, type Variant } from '../arms/ours.js';
import { runBursts, type BurstOptions, type BurstResult } from './bursts.js';
import { runCell, type CellOptions, type CellResult } from './cell.js';
import { runCold, type ColdOptions, type ColdResult } from './cold.js';
import { runFalseOpens, type FalseOpenOptions, type FalseOpenResult } from './false-opens.js';
import {
  runInsideBursts,
  type InsideBurstOptions,
  type InsideBurstResult,
} from './inside-bursts.js';
import { runOutage, type OutageOptions, type OutageResult } from './outage.js';
import { runRecovery, type RecoveryOptions, type RecoveryResult } from './recovery.js';

/** One of the arms by name, or ours with other numbers: what can be sent to another thread. */
export type ArmSpec = ArmName | Variant;

type Spec<O> = Omit<O, 'arm'> & { readonly arm: ArmSpec };

interface Kinds {
  readonly cell: { readonly options: Spec<CellOptions>; readonly result: CellResult };
  readonly outage: { readonly options: Spec<OutageOptions>; readonly result: OutageResult };
  readonly bursts: { readonly options: Spec<BurstOptions>; readonly result: BurstResult };
  readonly insideBursts: {
    readonly options: Spec<InsideBurstOptions>;
    readonly result: InsideBurstResult;
  };
  readonly falseOpens: {
    readonly options: Spec<FalseOpenOptions>;
    readonly result: FalseOpenResult;
  };
  readonly recovery: { readonly options: Spec<RecoveryOptions>; readonly result: RecoveryResult };
  readonly cold: { readonly options: Spec<ColdOptions>; readonly result: ColdResult };
}

export type JobKind = keyof Kinds;
export type ResultOf<K extends JobKind> = Kinds[K]['result'];

/** A piece of the table that can be computed on its own. */
export type Job<K extends JobKind = JobKind> = {
  [Kind in K]: {
    readonly id: string;
    readonly kind: Kind;
    readonly options: Kinds[Kind]['options'];
  };
}[K];

const runners: {
  [K in JobKind]: (options: Kinds[K]['options'], arm: Arm) => Promise<ResultOf<K>>;
} = {
  cell: (options, arm) => runCell({ ...options, arm }),
  outage: (options, arm) => runOutage({ ...options, arm }),
  bursts: (options, arm) => runBursts({ ...options, arm }),
  insideBursts: (options, arm) => runInsideBursts({ ...options, arm }),
  falseOpens: (options, arm) => runFalseOpens({ ...options, arm }),
  recovery: (options, arm) => runRecovery({ ...options, arm }),
  cold: (options, arm) => runCold({ ...options, arm }),
};

export function runJob<K extends JobKind>(job: Job<K>): Promise<ResultOf<K>> {
  const { arm } = job.options;
  const run = runners[job.kind] as (options: Job<K>['options'], arm: Arm) => Promise<ResultOf<K>>;
  return run(job.options, typeof arm === 'string' ? arms[arm] : variant(arm));
}
