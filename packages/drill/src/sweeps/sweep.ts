import { plain, type Figure, type Table } from '../report/table.js';
import type { ArmSpec, Job, JobKind, ResultOf } from '../runs/job.js';
import type { Results } from '../runs/results.js';
import type { PlanOptions } from '../plan/index.js';

/** What is looked at for each choice: a job, and the figure that its result gives. */
export interface Measure {
  readonly title: string;
  job(id: string, arm: ArmSpec, options: PlanOptions): Job;
  show(results: Results, id: string): Figure;
}

/** Some choices of numbers side by side. The first is what is shipped. */
export interface Sweep {
  readonly title: string;
  readonly lead: string;
  readonly choices: readonly { readonly title: string; readonly arm: ArmSpec }[];
  readonly measures: readonly Measure[];
}

export function measure<K extends JobKind>(
  title: string,
  kind: K,
  optionsOf: (options: PlanOptions) => Omit<Job<K>['options'], 'arm'>,
  show: (result: ResultOf<K>) => string,
): Measure {
  return {
    title,
    job: (id, arm, options) => ({ id, kind, options: { ...optionsOf(options), arm } }) as Job,
    show: (results, id) => {
      const result = results.get(kind, id);
      return plain(result === undefined ? '–' : show(result));
    },
  };
}

const idOf = (choice: string, { title }: Measure): string => `sweep/${choice}/${title}`;

export function sweepJobs({ choices, measures }: Sweep, options: PlanOptions): Job[] {
  return choices.flatMap(({ title, arm }) =>
    measures.map((one) => one.job(idOf(title, one), arm, options)),
  );
}

export function sweepTable({ title, lead, choices, measures }: Sweep, results: Results): Table {
  return {
    title,
    lead,
    head: ['', ...measures.map((one) => one.title)],
    rows: choices.map((choice) => [
      plain(choice.title),
      ...measures.map((one) => one.show(results, idOf(choice.title, one))),
    ]),
  };
}
