import { plain, type Table, type Tone } from './table.js';

/**
 * `cannot`: no policy of this kind can meet it, and the run shows why. `too noisy`: the machine did
 * not hold still long enough to say.
 */
export type Verdict = 'met' | 'missed' | 'cannot' | 'too noisy' | 'not run';

export interface Objective {
  readonly what: string;
  readonly bar: string;
  readonly measured: string;
  readonly verdict: Verdict;
  /** For what cannot be met. */
  readonly why?: string;
}

/** An objective over several measurements: met if each of them meets it. */
export function judge<T>(options: {
  readonly what: string;
  readonly bar: string;
  readonly values: readonly (T | undefined)[];
  readonly show: (values: readonly T[]) => string;
  readonly meets: (value: T) => boolean;
}): Objective {
  const { what, bar, values, show, meets } = options;
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return { what, bar, measured: '–', verdict: 'not run' };
  return { what, bar, measured: show(known), verdict: known.every(meets) ? 'met' : 'missed' };
}

const marks: Record<Verdict, string> = {
  met: '✔ met',
  missed: '✘ missed',
  cannot: '○ cannot be met',
  'too noisy': '○ too noisy',
  'not run': '· not run',
};
const tones: Record<Verdict, Tone> = {
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
    head: ['objective', 'bar', 'measured', 'verdict'],
    rows: judged(all).map(({ what, bar, measured, verdict }) => [
      plain(what),
      plain(bar),
      plain(measured),
      { text: marks[verdict], tone: tones[verdict] },
    ]),
  };
}

/** What has been run. */
const judged = (all: readonly Objective[]): Objective[] =>
  all.filter(({ verdict }) => verdict !== 'not run');

/** How many have not, if only a part of the table was asked for. */
export function leftOut(all: readonly Objective[]): string[] {
  const count = all.length - judged(all).length;
  return count === 0 ? [] : [`${count} more objectives were not run.`];
}

/** One line for each bar that cannot be met. */
export function reasons(all: readonly Objective[]): string[] {
  return all.flatMap(({ what, why }) => (why === undefined ? [] : [`${what}: ${why}`]));
}
