import { expect, test } from 'vitest';
import { ProgressLine } from './command-line.js';

test('a progress line overwrites itself, fits the terminal and is removed at the end', () => {
  let written = '';
  const line = new ProgressLine((text) => void (written += text));
  line.show('1 of 2');
  line.show('x'.repeat(200));
  line.clear();
  expect(written.split('\r\u001B[2K').map((part) => part.length)).toEqual([0, 6, 78, 0]);
});

test('without a terminal it writes nothing', () => {
  const line = new ProgressLine(undefined);
  expect(() => (line.show('1 of 2'), line.clear())).not.toThrow();
});
