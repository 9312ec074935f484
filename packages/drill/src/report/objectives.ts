import { plain, type Table, type Tone } from './table.js';

/**
 * `cannot`: no policy of this kind can meet the threshold, and `why` explains it. `too noisy`: the
 * timing of the machine varied too much to judge.
 */
type ObjectiveStatus = 'met' | 'missed' | 'cannot' | 'too noisy' | 'not run';

export interface Objective {
  readonly what: string;
  readonly threshold: string;
  readonly measured: string;
  readonly status: ObjectiveStatus;
  /** The reason for the status `cannot`. */
  readonly why?: string;
}

/** An objective over several measurements: met if every measurement meets it. */
export function judge<T>(options: {
  readonly what: string;
  readonly threshold: string;
  readonly values: readonly (T | undefined)[];
  readonly show: (values: readonly T[]) => string;
  readonly meets: (value: T) => boolean;
}): Objective {
  const { what, threshold, values, show, meets } = options;
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return { what, threshold, measured: '–', status: 'not run' };
  return { what, threshold, measured: show(known), status: known.every(meets) ? 'met' : 'missed' };
}

const marks: Record<ObjectiveStatus, string> = {
  met: '✔ met',
  missed: '✘ missed',
  cannot: '○ cannot be met',
  'too noisy': '○ too noisy',
  'not run': '· not run',
};
const tones: Record<ObjectiveStatus, Tone> = {
  met: 'good',
  missed: 'bad',
  cannot: 'plain',
  'too noisy': 'plain',
  'not run': 'plain',
};

export function objectiveTable(all: readonly Objective[]): Table {
  return {
    title: 'Objectives',
    lead: '',
    textColumns: 4,
    head: ['objective', 'threshold', 'measured', 'result'],
    rows: judged(all).map(({ what, threshold, measured, status }) => [
      plain(what),
      plain(threshold),
      plain(measured),
      { text: marks[status], tone: tones[status] },
    ]),
  };
}

/** The objectives that were run. */
const judged = (all: readonly Objective[]): Objective[] =>
  all.filter(({ status }) => status !== 'not run');

/** The number of objectives that were not run, for a partial run. */
export function notRun(all: readonly Objective[]): string[] {
  const count = all.length - judged(all).length;
  return count === 0 ? [] : [`${count} more objectives were not run.`];
}

/** One line for each threshold that cannot be met. */
export function reasons(all: readonly Objective[]): string[] {
  return all.flatMap(({ what, why }) => (why === undefined ? [] : [`${what}: ${why}`]));
}
