import { objectives } from '../objectives/index.js';
import type { PlanOptions } from '../plan/index.js';
import type { Results } from '../runs/results.js';
import { leftOut, objectiveTable, reasons } from './objective-table.js';
import { tablesOf } from './tables.js';
import type { Figure, Table, Tone } from './table.js';

/** Colours, where there is a terminal to show them. */
export type Paint = (text: string, tone: Tone | 'title') => string;

const codes = { good: 32, bad: 31, title: 1 } as const;

export function painter(colours: boolean): Paint {
  return (text, tone) =>
    colours && tone !== 'plain' ? `\u001B[${codes[tone]}m${text}\u001B[0m` : text;
}

/** All tables, and at the end how we stand. */
export function renderReport({ seed, calls }: PlanOptions, results: Results, paint: Paint): string {
  const all = objectives(results);
  return [
    `${calls.toLocaleString('en')} calls a cell, seed ${seed}. p95 of all calls, against the same calls without faults.`,
    '',
    ...tablesOf(results).map((table) => renderTable(table, paint)),
    renderTable(objectiveTable(all), paint),
    ...reasons(all).flatMap((reason) => wrap(reason)),
    ...leftOut(all),
    '',
  ].join('\n');
}

/** The widest line of running text. */
const WIDTH = 100;

export function renderTable(table: Table, paint: Paint): string {
  const { title, lead, head, rows, textColumns = 1 } = table;
  const widths = head.map((text, column) =>
    Math.max(text.length, ...rows.map((row) => row[column]?.text.length ?? 0)),
  );
  const line = (figures: readonly Figure[]): string =>
    figures
      .map(({ text, tone }, column) => {
        const width = widths[column] ?? 0;
        const padded = column < textColumns ? text.padEnd(width) : text.padStart(width);
        return paint(padded, tone);
      })
      .join('  ')
      .trimEnd();
  const heading = line(head.map((text) => ({ text, tone: 'plain' as const })));
  const rule = '─'.repeat(
    Math.max(...[heading, ...rows.map(plainLine(widths))].map((l) => l.length)),
  );
  return [paint(title, 'title'), ...wrap(lead), '', heading, rule, ...rows.map(line), ''].join(
    '\n',
  );
}

function plainLine(widths: readonly number[]) {
  return (row: readonly Figure[]): string =>
    row.map(({ text }, column) => text.padEnd(widths[column] ?? 0)).join('  ');
}

/** Breaks running text between words. */
export function wrap(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
