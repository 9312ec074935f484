import type { Job, JobKind, ResultOf } from './job.js';

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
