import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stillClock } from './clock.fixture.js';
import { createAccount, createWindows } from './limits.js';

const MINUTE = 60_000;

describe('windows', () => {
  test('limit requests in fifteen minutes, and report the remaining ones', () => {
    const limit = fc.integer({ min: 1, max: 5 });
    const gaps = fc.array(fc.nat(10 * MINUTE), { maxLength: 60 });
    fc.assert(
      fc.property(limit, gaps, (user, waits) => {
        const clock = stillClock();
        const windows = createWindows(clock, () => ({ user }));
        let opened = { at: -Infinity, used: 0 };
        for (const wait of waits) {
          clock.advance(wait);
          if (clock.now() - opened.at >= 15 * MINUTE) opened = { at: clock.now(), used: 0 };
          const { allowed, headers } = windows.take('me', { app: 'a', user: 'u' });
          expect(allowed).toBe(opened.used < user);
          if (allowed) opened.used += 1;
          expect(headers).toEqual({
            'x-rate-limit-limit': String(user),
            'x-rate-limit-remaining': String(user - opened.used),
            'x-rate-limit-reset': String(Math.ceil((opened.at + 15 * MINUTE) / 1000)),
          });
        }
      }),
    );
  });

  test('must both have room: the daily and the fifteen-minute one', () => {
    const clock = stillClock();
    const windows = createWindows(clock, () => ({ user: 2, appDay: 3 }));
    const take = () => windows.take('post', { app: 'a', user: 'u' }).allowed;
    expect([take(), take(), take()]).toEqual([true, true, false]);
    clock.advance(15 * MINUTE);
    expect([take(), take()]).toEqual([true, false]);
    clock.advance(24 * 60 * MINUTE);
    expect(take()).toBe(true);
  });
});

describe('the account', () => {
  test('is charged', () => {
    const account = createAccount(1);
    account.charge('post');
    account.charge('post-read', 9);
    expect(account.spent()).toBeCloseTo(0.06);
    expect(account.credits()).toBeCloseTo(0.94);
  });
});
