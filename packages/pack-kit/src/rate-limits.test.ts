import { describe, expect, it } from 'vitest';
import { RateWindows, withRetryAfter } from './rate-limits.js';

type Scope = ReturnType<typeof scope>;
const scope = (endpoint: string, credential: string, login: string) => ({
  endpoint,
  credential,
  login,
});

const info = (remaining: number, reset: number, name?: string) => ({
  limit: 10,
  remaining,
  reset,
  ...(name !== undefined && { name }),
});

describe('RateWindows', () => {
  it('keeps the last state of each window of each endpoint and credential', () => {
    const windows = new RateWindows<Scope>('15 minutes');
    windows.record(scope('GET /a', 'user', 'L'), [info(9, 100), info(90, 500, '24h user')]);
    windows.record(scope('GET /a', 'user', 'L'), [info(8, 100)]);
    windows.record(scope('GET /a', 'app', 'L'), [info(5, 100)]);
    windows.record(scope('GET /b', 'user', 'L'), []);
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

  it('drops windows that were reset', () => {
    const windows = new RateWindows<Scope>('15 minutes');
    windows.record(scope('GET /a', 'user', 'L'), [info(0, 100), info(0, 500, '24h app')]);
    expect(windows.list(200_000).map(({ window }) => window)).toEqual(['24h app']);
    expect(windows.list(500_000)).toEqual([]);
  });

  it('lists only the windows of the current login', () => {
    let login = 'one';
    const windows = new RateWindows<Scope>(
      '15 minutes',
      (scope) => scope.login === (scope.credential === 'user' ? login : 'fixed'),
    );
    windows.record(scope('GET /a', 'user', 'one'), [info(0, 100)]);
    windows.record(scope('GET /a', 'app', 'fixed'), [info(4, 100)]);
    expect(windows.list(0).map(({ info: { remaining } }) => remaining)).toEqual([0, 4]);
    login = 'two';
    expect(windows.list(0).map(({ info: { remaining } }) => remaining)).toEqual([4]);
    windows.record(scope('GET /a', 'user', 'two'), [info(7, 100)]);
    // A late response to the earlier login.
    windows.record(scope('GET /a', 'user', 'one'), [info(0, 100)]);
    expect(windows.list(0).map(({ info: { remaining } }) => remaining)).toEqual([4, 7]);
  });
});

const NOW = 1_000_000_000_000;
const in_ = (seconds: number) => NOW / 1000 + seconds;

describe('withRetryAfter', () => {
  it('keeps the reported limits if they cover the wait', () => {
    const told = [{ limit: 15, remaining: 0, reset: in_(600) }];
    expect(withRetryAfter(told, 600_000, NOW)).toEqual(told);
    expect(withRetryAfter(told, 600_900, NOW)).toEqual(told);
    expect(withRetryAfter(told, undefined, NOW)).toEqual(told);
  });

  it('adds a window for a wait without one', () => {
    const made = {
      limit: 0,
      remaining: 0,
      reset: in_(119.001),
      limitUnknown: true,
      name: 'not stated',
    };
    expect(withRetryAfter([], 119_001, NOW)).toEqual([made]);
  });

  it('prefers the wait if it is longer than the window or contradicts it', () => {
    const day = { limit: 50, remaining: 7, reset: in_(9_000), name: '24h user' };
    const made = {
      limit: 0,
      remaining: 0,
      reset: in_(120),
      limitUnknown: true,
      name: 'not stated',
    };
    for (const told of [
      { limit: 15, remaining: 0, reset: in_(60) },
      { limit: 15, remaining: 3, reset: in_(600) },
    ]) {
      expect(withRetryAfter([told, day], 120_000, NOW)).toEqual([day, made]);
    }
  });

  it('drops windows that have passed', () => {
    expect(withRetryAfter([{ limit: 15, remaining: 0, reset: in_(-5) }], undefined, NOW)).toEqual(
      [],
    );
  });
});
