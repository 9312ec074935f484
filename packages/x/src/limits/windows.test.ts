import { describe, expect, it } from 'vitest';
import { RateWindows } from './windows.js';

const info = (remaining: number, reset: number, name?: string) => ({
  limit: 10,
  remaining,
  reset,
  ...(name !== undefined && { name }),
});

describe('RateWindows', () => {
  it('keeps the last word on each window of each endpoint and credential', () => {
    const windows = new RateWindows();
    windows.note('GET /a', 'user', [info(9, 100), info(90, 500, '24h user')]);
    windows.note('GET /a', 'user', [info(8, 100)]);
    windows.note('GET /a', 'app', [info(5, 100)]);
    windows.note('GET /b', 'user', []);
    expect(
      windows
        .list(0)
        .map(({ credential, window, info: { remaining } }) => [credential, window, remaining]),
    ).toEqual([
      ['user', '15 minutes', 8],
      ['user', '24h user', 90],
      ['app', '15 minutes', 5],
    ]);
  });

  it('forgets what was reset since', () => {
    const windows = new RateWindows();
    windows.note('GET /a', 'user', [info(0, 100), info(0, 500, '24h app')]);
    expect(windows.list(200_000).map(({ window }) => window)).toEqual(['24h app']);
    expect(windows.list(500_000)).toEqual([]);
  });
});
