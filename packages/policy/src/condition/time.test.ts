import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { callOf, policyOf } from '../tools.fixture.js';
import type { TimeCondition } from '../config.js';
import { evaluate } from '../evaluate.js';

const isTime = (time: TimeCondition, now: number | string): boolean => {
  const policy = policyOf({ rules: [{ name: 'now', action: 'deny', when: { time } }] });
  const moment = typeof now === 'string' ? Date.parse(now) : now;
  return evaluate(policy, callOf('x_like_tweet', {}, { now: moment })).kind === 'deny';
};

const night = { zone: 'Europe/Rome', between: ['22:00', '07:00'] } as const;

describe('a time window', () => {
  test.for<[string, TimeCondition, string, boolean]>([
    [
      'starts with its first minute',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T09:00:00Z',
      true,
    ],
    [
      'does not match before',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T08:59:59.999Z',
      false,
    ],
    [
      'matches until its end',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T16:59:59.999Z',
      true,
    ],
    [
      'excludes its end',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T17:00:00Z',
      false,
    ],
    ['spans midnight, before', night, '2026-01-14T22:30:00Z', true],
    ['spans midnight, after', night, '2026-01-15T05:59:00Z', true],
    ['spans midnight, and ends', night, '2026-01-15T06:00:00Z', false],
    ['uses local time in winter', night, '2026-01-14T21:00:00Z', true],
    ['uses local time in summer', night, '2026-07-14T20:00:00Z', true],
    ['does not use the offset of another season', night, '2026-01-14T20:00:00Z', false],
    [
      'may end at 24:00',
      { zone: 'UTC', between: ['20:00', '24:00'] },
      '2026-01-14T23:59:59Z',
      true,
    ],
    ['ends at 24:00', { zone: 'UTC', between: ['20:00', '24:00'] }, '2026-01-15T00:00:00Z', false],
    [
      'supports half-hour offsets',
      { zone: 'Asia/Kolkata', between: ['09:00', '09:30'] },
      '2026-01-14T03:30:00Z',
      true,
    ],
  ])('%s', ([, time, now, expected]) => {
    expect(isTime(time, now)).toBe(expected);
  });

  test('an hour that daylight saving skips never matches', () => {
    // In Rome 02:00 is followed by 03:00 on 29 March 2026.
    const hour = { zone: 'Europe/Rome', between: ['02:00', '03:00'] } as const;
    expect(isTime(hour, '2026-03-29T00:59:59Z')).toBe(false);
    expect(isTime(hour, '2026-03-29T01:00:00Z')).toBe(false);
    expect(isTime(hour, '2026-03-28T01:30:00Z')).toBe(true);
  });

  test('an hour that daylight saving repeats matches twice', () => {
    const hour = { zone: 'Europe/Rome', between: ['02:00', '03:00'] } as const;
    const found = ['00:30', '01:30', '02:30'].map((at) => isTime(hour, `2026-10-25T${at}:00Z`));
    expect(found).toEqual([true, true, false]);
  });

  test('a window over a clock change ends in local time', () => {
    expect(isTime(night, '2026-03-29T04:59:00Z')).toBe(true);
    expect(isTime(night, '2026-03-29T05:00:00Z')).toBe(false);
    expect(isTime(night, '2026-10-25T05:59:00Z')).toBe(true);
    expect(isTime(night, '2026-10-25T06:00:00Z')).toBe(false);
  });
});

describe('a day of the week', () => {
  const friday = { zone: 'UTC', between: ['22:00', '07:00'], days: ['fri'] } as const;

  it('is the day on which a window over midnight starts', () => {
    expect(isTime(friday, '2026-01-16T23:00:00Z')).toBe(true);
    expect(isTime(friday, '2026-01-17T06:59:00Z')).toBe(true);
    expect(isTime(friday, '2026-01-16T06:00:00Z')).toBe(false);
    expect(isTime(friday, '2026-01-17T23:00:00Z')).toBe(false);
  });

  it('continues from Saturday to Sunday', () => {
    const saturday = { ...friday, days: ['sat'] } as const;
    expect(isTime(saturday, '2026-01-18T03:00:00Z')).toBe(true);
  });

  it('is local', () => {
    const monday = { zone: 'Pacific/Auckland', days: ['mon'] } as const;
    expect(isTime(monday, '2026-01-18T12:00:00Z')).toBe(true);
    expect(isTime(monday, '2026-01-19T12:00:00Z')).toBe(false);
  });
});

it('matches exactly one of a window and its complement', () => {
  const zones = ['Europe/Rome', 'America/New_York', 'Australia/Lord_Howe', 'UTC'] as const;
  const clock = fc.nat(1439).map((m) => `${pad(Math.floor(m / 60))}:${pad(m % 60)}`);
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      clock,
      clock,
      fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true }),
      (zone, from, to, date) => {
        fc.pre(from !== to);
        const inside = isTime({ zone, between: [from, to] }, date.getTime());
        expect(isTime({ zone, between: [to, from] }, date.getTime())).toBe(!inside);
      },
    ),
    { numRuns: 50 },
  );
});

const pad = (part: number): string => String(part).padStart(2, '0');

it('is unknown for an invalid time, and then restricts', () => {
  for (const now of [NaN, Infinity, 1e300, 'noon' as unknown as number]) {
    expect(isTime(night, now)).toBe(true);
  }
});
