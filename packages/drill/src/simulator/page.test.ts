import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { figure, filled, grid, plain, renderMarkdown, type Table } from '../report/table.js';
import { shippedNumbers } from './page.js';
import { painter, renderTable, wrap } from '../report/table.js';
import { quoteFrom } from './tables.js';

const table: Table = {
  title: 'Title',
  lead: 'What it is.',
  head: ['policy', '5 ms'],
  rows: [
    [plain('ours'), figure(1, String, (value) => value < 2)],
    [plain('another'), figure(30, String, (value) => value < 2)],
  ],
};

test('a table on the terminal stands in columns, figures to the right', () => {
  expect(renderTable(table, painter(false)).split('\n')).toEqual([
    'Title',
    'What it is.',
    '',
    'policy   5 ms',
    '─────────────',
    'ours        1',
    'another    30',
    '',
  ]);
});

test('colours are for terminals', () => {
  expect(renderTable(table, painter(true))).toContain('\u001B[32m   1\u001B[0m');
  expect(renderTable(table, painter(false))).not.toContain('\u001B');
});

test('a table on a page shows what meets its threshold in bold', () => {
  expect(renderMarkdown(table)).toBe(
    '## Title\n\nWhat it is.\n\n| policy | 5 ms |\n| --- | ---: |\n| ours | **1** |\n| another | 30 |\n',
  );
  expect(grid({ ...table, textColumns: 2 })).toContain('| --- | --- |');
});

test('what was not computed is a dash, and a row of dashes is left out', () => {
  const dash = figure<number>(undefined, String);
  expect(dash.text).toBe('–');
  expect(
    filled([
      [plain('a'), dash],
      [plain('b'), plain('1')],
    ]),
  ).toHaveLength(1);
});

test('running text is broken between words', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
});

test('a sentence can only quote a figure that is there', () => {
  const quote = quoteFrom(table);
  expect(quote('ours', '5 ms')).toBe('1');
  expect(() => quote('ours', '6 ms')).toThrow('has no ours / 6 ms');
});

test('the page in docs was written with the numbers that are shipped', () => {
  const page = readFileSync(new URL('../../../../docs/simulation.md', import.meta.url), 'utf8');
  expect(page).toContain(shippedNumbers());
  expect(page).toContain('200,000 calls a cell');
});
