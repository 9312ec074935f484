import { expect, test } from 'vitest';
import { retentionQueue } from './operations.js';

test('what was free first leaves first, and the newest stay', () => {
  const finished = retentionQueue<string>(2);
  finished.add('a', 30, 130);
  finished.add('b', 0, 0);
  finished.add('c', 30, 140);
  finished.add('d', 1000, 1100);
  expect(finished.take(129)).toEqual([]);
  finished.add('e', 0, 0);
  finished.add('f', 30, 150);
  expect(finished.take(140)).toEqual(['b', 'a']);
  expect(finished.take(149)).toEqual([]);
  expect(finished.take(150)).toEqual(['c']);
  expect(finished.take(5000)).toEqual(['e']);
});

test('nothing leaves twice', () => {
  const finished = retentionQueue<string>(0);
  for (let i = 0; i < 100; i++) finished.add(`${i}`, i % 3, i + (i % 3));
  const gone: string[] = [];
  for (let now = 0; now < 120; now++) gone.push(...finished.take(now));
  expect(new Set(gone).size).toBe(100);
  expect(gone).toHaveLength(100);
});
