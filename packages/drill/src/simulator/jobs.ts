import {
  tunedVariant,
  variants,
  type TunedPolicy,
  type Variant,
  type VariantName,
} from './variants.js';
import {
  type BurstOptions,
  type BurstResult,
  type InsideBurstOptions,
  type InsideBurstResult,
  runBursts,
  runInsideBursts,
} from './bursts.js';
import { runCell, type CellOptions, type CellResult } from './cell.js';
import {
  type ColdOptions,
  type ColdResult,
  type FalseOpenOptions,
  type FalseOpenResult,
  type OutageOptions,
  type OutageResult,
  type RecoveryOptions,
  type RecoveryResult,
  runCold,
  runFalseOpens,
  runOutage,
  runRecovery,
} from './outages.js';

/** One of the variants by name, or ours with other numbers: what can be sent to another thread. */
export type VariantSpec = VariantName | TunedPolicy;

type Spec<O> = Omit<O, 'variant'> & { readonly variant: VariantSpec };

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
  [K in JobKind]: (options: Kinds[K]['options'], variant: Variant) => Promise<ResultOf<K>>;
} = {
  cell: (options, variant) => runCell({ ...options, variant }),
  outage: (options, variant) => runOutage({ ...options, variant }),
  bursts: (options, variant) => runBursts({ ...options, variant }),
  insideBursts: (options, variant) => runInsideBursts({ ...options, variant }),
  falseOpens: (options, variant) => runFalseOpens({ ...options, variant }),
  recovery: (options, variant) => runRecovery({ ...options, variant }),
  cold: (options, variant) => runCold({ ...options, variant }),
};

export function runJob<K extends JobKind>(job: Job<K>): Promise<ResultOf<K>> {
  const { variant } = job.options;
  const run = runners[job.kind] as (
    options: Job<K>['options'],
    variant: Variant,
  ) => Promise<ResultOf<K>>;
  return run(job.options, typeof variant === 'string' ? variants[variant] : tunedVariant(variant));
}

/** What came out, by the id of the job. A table shows what is there and leaves out the rest. */
export class Results {
  readonly #byId = new Map<string, { readonly job: Job; readonly result: ResultOf<JobKind> }>();

  add<K extends JobKind>(job: Job<K>, result: ResultOf<K>): void {
    this.#byId.set(job.id, { job: job as Job, result });
  }

  get<K extends JobKind>(kind: K, id: string): ResultOf<K> | undefined {
    const found = this.#byId.get(id);
    return found?.job.kind === kind ? found.result : undefined;
  }

  /** The results of some ids, where there are any. */
  all<K extends JobKind>(kind: K, ids: readonly string[]): ResultOf<K>[] {
    return ids.map((id) => this.get(kind, id)).filter((result) => result !== undefined);
  }

  /** In the order of the plan, whichever was done first. */
  inOrderOf(jobs: readonly Job[]): { readonly id: string; readonly result: ResultOf<JobKind> }[] {
    return jobs.flatMap(({ id }) => {
      const found = this.#byId.get(id);
      return found ? [{ id, result: found.result }] : [];
    });
  }
}
