import type { Objective, Verdict } from '../objectives/objective.js';
import { plain, type Table, type Tone } from './table.js';

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
