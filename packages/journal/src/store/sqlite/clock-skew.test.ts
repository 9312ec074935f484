import { beforeEach, describe, expect, test } from 'vitest';
import type { JournalError } from '../../error.js';
import { clockSkew, type Heartbeat } from './clock-skew.js';

const LEASE = 15_000;
const self = { host: 'here/boot/ns', pid: 1, startedAt: 's1' };

describe('the clock of this process', () => {
  /** The true time, and the clock errors of this and the other process. */
  let time: number;
  let own: number;
  let others: number;
  /** The last heartbeat of the other process. */
  let written: Heartbeat | undefined;
  let state: 'running' | 'stopped' | 'ended';
  let compare: (heartbeats: readonly Heartbeat[], now: number) => JournalError | undefined;

  beforeEach(() => {
    [time, own, others] = [Date.UTC(2026, 0, 1), 0, 0];
    [written, state] = [undefined, 'running'];
    const processes = { self: () => self, isRunning: () => state === 'running' };
    compare = clockSkew({ path: '/j.db', processes, elapsed: () => time });
  });

  const beat = (changes: Partial<Heartbeat> = {}): void => {
    const at = time + others;
    written = {
      id: 'own_2',
      ...self,
      pid: 2,
      startedAt: 's2',
      beatAt: at,
      leaseUntil: at + LEASE,
      ...changes,
    };
  };
  const isRefused = (): boolean => compare(written ? [written] : [], time + own) !== undefined;
  const pass = (ms: number): void => void (time += ms);

  /** Both renew their leases every 5 s, this process some time after the other. */
  const refusals = (rounds: number, phase = 2000): boolean[] =>
    Array.from({ length: rounds }, () => {
      beat();
      pass(phase);
      const found = isRefused();
      pass(5000 - phase);
      return found;
    });

  test.each([0, 4900, -4900])('may differ by %i ms', (difference) => {
    own = difference;
    for (const phase of [1, 2500, 4999]) expect(refusals(5, phase)).not.toContain(true);
  });

  test.each([10_000, 60_000, 86_400_000, -10_000, -60_000, -86_400_000])(
    'is refused while it differs by %i ms',
    (difference) => {
      own = difference;
      expect(refusals(5).slice(1)).not.toContain(false);
      own = 0;
      expect(refusals(3)).toEqual([false, false, false]);
    },
  );

  test('is refused for a difference slightly above 5 s if compared often', () => {
    others = 6100;
    beat();
    pass(1000);
    expect(isRefused()).toBe(true);
    others = -6100;
    for (let second = 0; second < 5; second += 1) {
      if (second === 2) beat();
      pass(1000);
      expect(isRefused()).toBe(true);
    }
  });

  test.each([60_000, -60_000])(
    'is refused at the first comparison if it is wrong by %i ms',
    (difference) => {
      own = difference;
      beat();
      pass(4000);
      expect(isRefused()).toBe(true);
    },
  );

  test('is compared with the heartbeats of processes on other hosts', () => {
    own = 60_000;
    beat({ host: 'there' });
    expect(isRefused()).toBe(false);
    pass(5000);
    beat({ host: 'there' });
    pass(1000);
    expect(isRefused()).toBe(true);
  });

  test('is trusted while there is no other process', () => {
    for (const change of [0, 86_400_000, -86_400_000]) {
      own = change;
      expect(isRefused()).toBe(false);
      pass(5000);
    }
    // Its own former ids are not other processes.
    own = 86_400_000;
    beat(self);
    expect(isRefused()).toBe(false);
  });

  test.each(['ended', 'stopped'] as const)('is not compared with a process that %s', (what) => {
    own = 60_000;
    beat();
    expect(isRefused()).toBe(true);
    state = what;
    expect(isRefused()).toBe(false);
  });

  test('is not compared with a process without a heartbeat for the length of its lease', () => {
    beat();
    pass(3_600_000);
    expect(isRefused()).toBe(true);
    pass(LEASE - 1);
    expect(isRefused()).toBe(true);
    pass(1);
    expect(isRefused()).toBe(false);
    // It counts again as soon as it writes.
    own = 60_000;
    refusals(1);
    expect(refusals(2)).toEqual([true, true]);
  });

  test('agrees with a process that stops writing heartbeats', () => {
    refusals(3);
    for (let second = 0; second < 60; second += 1) {
      pass(1000);
      expect(isRefused()).toBe(false);
    }
  });

  test.each([3_600_000, -3_600_000])(
    'that is set by %i ms together with the others is refused until they write heartbeats',
    (step) => {
      refusals(3);
      own = step;
      others = step;
      expect(isRefused()).toBe(true);
      pass(1000);
      beat();
      pass(1000);
      expect(isRefused()).toBe(false);
      expect(refusals(3)).toEqual([false, false, false]);
    },
  );

  test('is named in the refusal, with that of the other process', () => {
    own = 60_000;
    beat();
    expect(compare([written!], time + own)).toMatchObject({
      name: 'JournalError',
      reason: 'clock',
      message:
        'The clocks of two processes that share the journal /j.db differ by more than 5 s: it is ' +
        '2026-01-01T00:01:00.000Z for this process (pid 1 on here), and the last heartbeat of owner ' +
        'own_2 (pid 2 on here) says 2026-01-01T00:00:00.000Z. Mutations are refused and nothing was ' +
        'sent, because leases and time windows would end at the wrong time. Synchronize the clocks, or ' +
        'stop one of the two processes; then try again after 15 s.',
    });
  });
});
