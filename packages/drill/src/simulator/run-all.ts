import { Worker } from 'node:worker_threads';
import { type Job, type JobKind, type ResultOf, Results, runJob } from './jobs.js';

export interface RunOptions {
  /** 1 runs everything here; more share the jobs. The results are the same. */
  readonly threads: number;
  readonly onDone?: (job: Job, done: number, all: number) => void;
}

type Reply = { readonly result: ResultOf<JobKind> } | { readonly error: unknown };

/** Runs jobs on as many threads as wanted. */
export async function runAll(jobs: readonly Job[], options: RunOptions): Promise<Results> {
  const results = new Results();
  const queue = [...jobs];
  let done = 0;
  const take = async (run: (job: Job) => Promise<ResultOf<JobKind>>): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      results.add(job, await run(job));
      done++;
      options.onDone?.(job, done, jobs.length);
    }
  };
  const threads = Math.min(options.threads, jobs.length);
  if (threads <= 1) await take(runJob);
  else await Promise.all(Array.from({ length: threads }, () => withWorker(take)));
  return results;
}

async function withWorker(
  use: (run: (job: Job) => Promise<ResultOf<JobKind>>) => Promise<void>,
): Promise<void> {
  const worker = new Worker(new URL('./worker.js', import.meta.url));
  try {
    await use((job) => ask(worker, job));
  } finally {
    await worker.terminate();
  }
}

function ask(worker: Worker, job: Job): Promise<ResultOf<JobKind>> {
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
