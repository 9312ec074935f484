import { expect, test } from 'vitest';
import {
  change,
  duration,
  figure,
  filled,
  grid,
  painter,
  percent,
  plain,
  renderMarkdown,
  renderTable,
  type Table,
  times,
  wrap,
} from './table.js';

test.for([
  [1.047, '+4.7 %'],
  [0.98, '−2.0 %'],
  [1, '±0.0 %'],
  [1.0003, '±0.0 %'],
  [10.98, '+998.0 %'],
  [71.2, '+7020 %'],
] as const)('formats a ratio of %f as %s', ([ratio, text]) => {
  expect(change(ratio)).toBe(text);
});

test.for([
  [0, '0 s'],
  [5, '5 ms'],
  [7.36, '7.4 ms'],
  [200, '200 ms'],
  [1000, '1 s'],
  [6851, '6.9 s'],
  [1_023_109, '1023 s'],
] as const)('formats %f milliseconds as %s', ([ms, text]) => {
  expect(duration(ms)).toBe(text);
});

test('formats shares and loads', () => {
  expect(percent(0.99213, 2)).toBe('99.21 %');
  expect(times(1.2449)).toBe('1.24×');
});

const table: Table = {
  title: 'Title',
  lead: 'A description.',
  head: ['policy', '5 ms'],
  rows: [
    [plain('ours'), figure(1, String, (value) => value < 2)],
    [plain('another'), figure(30, String, (value) => value < 2)],
  ],
};

test('a table on the terminal is aligned in columns, figures to the right', () => {
  expect(renderTable(table, painter(false)).split('\n')).toEqual([
    'Title',
    'A description.',
    '',
    'policy   5 ms',
    '─────────────',
    'ours        1',
    'another    30',
    '',
  ]);
});

test('colours appear only on terminals', () => {
  expect(renderTable(table, painter(true))).toContain('\u001B[32m   1\u001B[0m');
  expect(renderTable(table, painter(false))).not.toContain('\u001B');
});

test('a Markdown table shows figures that meet their threshold in bold', () => {
  expect(renderMarkdown(table)).toBe(
    '## Title\n\nA description.\n\n| policy | 5 ms |\n| --- | ---: |\n| ours | **1** |\n| another | 30 |\n',
  );
  expect(grid({ ...table, textColumns: 2 })).toContain('| --- | --- |');
});

test('a missing figure is a dash, and a row of dashes is omitted', () => {
  const dash = figure<number>(undefined, String);
  expect(dash.text).toBe('–');
  expect(
    filled([
      [plain('a'), dash],
      [plain('b'), plain('1')],
    ]),
  ).toHaveLength(1);
});

test('text wraps between words', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
});
