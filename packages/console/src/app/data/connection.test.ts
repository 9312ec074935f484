import { expect, test } from 'vitest';
import { judgeSilence, listenedFor, reconnectDelay } from './connection.js';

test('silence is late, then a lost connection within 5 s; it never stays healthy', () => {
  const heard = { state: 'live', heardAt: 1000 } as const;
  const after = (ms: number): string => judgeSilence(heard, 1000 + ms, ms);
  expect([0, 2_999, 3_000, 4_499, 4_500, 60_000].map(after)).toEqual([
    'ok',
    'ok',
    'late',
    'late',
    'lost',
    'lost',
  ]);
  expect(judgeSilence({ state: 'late', heardAt: 1000 }, 6000, 5000)).toBe('lost');
});

test('a page that could not listen is late, not lost', () => {
  const heard = { state: 'live', heardAt: 1000 } as const;
  const checks = [500, 8_000, 500].map(listenedFor);
  const listened = checks.reduce((sum, ms) => sum + ms);
  expect(checks).toEqual([500, 1000, 500]);
  expect(judgeSilence(heard, 10_000, listened)).toBe('late');
});

test('a page that is not connected is not judged', () => {
  expect(judgeSilence({ state: 'connecting' }, 1e9, 1e9)).toBe('ok');
  expect(judgeSilence({ state: 'signed-out' }, 1e9, 1e9)).toBe('ok');
});

test('reconnecting slows down, but never beyond 5 s', () => {
  expect([0, 1, 2, 3, 4, 5, 50].map(reconnectDelay)).toEqual([
    500, 500, 1000, 2000, 4000, 5000, 5000,
  ]);
});
