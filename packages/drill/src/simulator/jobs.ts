import { Worker } from 'node:worker_threads';
import { runBursts, runInsideBursts } from './bursts.js';
import { runCell } from './cell.js';
import { runCold, runFalseOpens, runOutage, runRecovery } from './outages.js';
import { tunedVariant, variants, type TunedPolicy, type VariantName } from './variants.js';

const scenarios = {
  cell: runCell,
  outage: runOutage,
  bursts: runBursts,
  insideBursts: runInsideBursts,
  falseOpens: runFalseOpens,
  recovery: runRecovery,
  cold: runCold,
};

type Scenarios = typeof scenarios;
export type JobKind = keyof Scenarios;
type OptionsOf<K extends JobKind> = Parameters<Scenarios[K]>[0];
export type ResultOf<K extends JobKind> = Awaited<ReturnType<Scenarios[K]>>;

/** A variant by name, or the preset with other numbers: data that can be sent to a worker thread. */
export type VariantSpec = VariantName | TunedPolicy;

/** One simulation that runs independently of the others. */
export type Job<K extends JobKind = JobKind> = {
  [Kind in K]: {
    readonly id: string;
    readonly kind: Kind;
    readonly options: Omit<OptionsOf<Kind>, 'variant'> & { readonly variant: VariantSpec };
  };
}[K];

export function runJob<K extends JobKind>({ kind, options }: Job<K>): Promise<ResultOf<K>> {
  const run = scenarios[kind] as unknown as (options: object) => Promise<ResultOf<K>>;
  const spec = options.variant;
  return run({
    ...options,
    variant: typeof spec === 'string' ? variants[spec] : tunedVariant(spec),
  });
}

/** Results by job id. Jobs that did not run are absent. */
export class Results {
  readonly #byId = new Map<string, { readonly kind: JobKind; readonly result: object }>();

  add<K extends JobKind>({ id, kind }: Job<K>, result: ResultOf<K>): void {
    this.#byId.set(id, { kind, result });
  }

  get<K extends JobKind>(kind: K, id: string): ResultOf<K> | undefined {
    const found = this.#byId.get(id);
    return found?.kind === kind ? (found.result as ResultOf<K>) : undefined;
  }

  /** In the order of the plan, whatever order the jobs finished in. */
  inOrderOf(jobs: readonly Job[]): { readonly id: string; readonly result: object }[] {
    return jobs.flatMap(({ id }) => {
      const found = this.#byId.get(id);
      return found ? [{ id, result: found.result }] : [];
    });
  }
}

interface RunOptions {
  /** 1 runs every job in this thread; more share the jobs. The results are the same. */
  readonly threads: number;
  readonly onDone?: (job: Job, done: number, all: number) => void;
}

type RunJob = (job: Job) => Promise<ResultOf<JobKind>>;

export async function runAll(jobs: readonly Job[], options: RunOptions): Promise<Results> {
  const results = new Results();
  const queue = [...jobs];
  let done = 0;
  const drainQueue = async (run: RunJob): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      results.add(job, await run(job));
      done++;
      options.onDone?.(job, done, jobs.length);
    }
  };
  const threads = Math.min(options.threads, jobs.length);
  if (threads <= 1) await drainQueue(runJob);
  else await Promise.all(Array.from({ length: threads }, () => withWorker(drainQueue)));
  return results;
}

async function withWorker(use: (run: RunJob) => Promise<void>): Promise<void> {
  const worker = new Worker(new URL('./worker.js', import.meta.url));
  try {
    await use((job) => runInWorker(worker, job));
  } finally {
    await worker.terminate();
  }
}

type Reply = { readonly result: ResultOf<JobKind> } | { readonly error: unknown };

function runInWorker(worker: Worker, job: Job): Promise<ResultOf<JobKind>> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners();
    worker.once('error', reject);
    worker.once('message', (reply: Reply) => {
      if ('result' in reply) resolve(reply.result);
      else reject(new Error(`${job.id} failed`, { cause: reply.error }));
    });
    worker.postMessage(job, []);
  });
}
