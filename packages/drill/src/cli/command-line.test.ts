import { expect, test } from 'vitest';
import { ProgressLine } from './command-line.js';

test('a progress line writes over itself, fits the terminal and goes away', () => {
  let written = '';
  const line = new ProgressLine((text) => void (written += text));
  line.show('1 of 2');
  line.show('x'.repeat(200));
  line.clear();
  expect(written.split('\r\u001B[2K').map((part) => part.length)).toEqual([0, 6, 78, 0]);
});

test('with nobody looking it is silent', () => {
  const line = new ProgressLine(undefined);
  expect(() => (line.show('1 of 2'), line.clear())).not.toThrow();
});
