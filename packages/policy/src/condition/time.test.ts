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

describe('the time of day', () => {
  test.for<[string, TimeCondition, string, boolean]>([
    [
      'begins with its first minute',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T09:00:00Z',
      true,
    ],
    [
      'is not yet before',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T08:59:59.999Z',
      false,
    ],
    [
      'ends before its last',
      { zone: 'UTC', between: ['09:00', '17:00'] },
      '2026-01-14T16:59:59.999Z',
      true,
    ],
    ['is over then', { zone: 'UTC', between: ['09:00', '17:00'] }, '2026-01-14T17:00:00Z', false],
    ['spans midnight, before', night, '2026-01-14T22:30:00Z', true],
    ['spans midnight, after', night, '2026-01-15T05:59:00Z', true],
    ['spans midnight, and ends', night, '2026-01-15T06:00:00Z', false],
    ['is that of the place in winter', night, '2026-01-14T21:00:00Z', true],
    ['is that of the place in summer', night, '2026-07-14T20:00:00Z', true],
    ['is not that of another season', night, '2026-01-14T20:00:00Z', false],
    [
      'lasts until the end of the day',
      { zone: 'UTC', between: ['20:00', '24:00'] },
      '2026-01-14T23:59:59Z',
      true,
    ],
    [
      'does not last longer',
      { zone: 'UTC', between: ['20:00', '24:00'] },
      '2026-01-15T00:00:00Z',
      false,
    ],
    [
      'can be half an hour off',
      { zone: 'Asia/Kolkata', between: ['09:00', '09:30'] },
      '2026-01-14T03:30:00Z',
      true,
    ],
  ])('%s', ([, time, now, expected]) => {
    expect(isTime(time, now)).toBe(expected);
  });

  test('an hour that is skipped in spring is never', () => {
    // In Rome 02:00 is followed by 03:00 on 29 March 2026.
    const hour = { zone: 'Europe/Rome', between: ['02:00', '03:00'] } as const;
    expect(isTime(hour, '2026-03-29T00:59:59Z')).toBe(false);
    expect(isTime(hour, '2026-03-29T01:00:00Z')).toBe(false);
    expect(isTime(hour, '2026-03-28T01:30:00Z')).toBe(true);
  });

  test('an hour that comes twice in autumn is twice', () => {
    const hour = { zone: 'Europe/Rome', between: ['02:00', '03:00'] } as const;
    const found = ['00:30', '01:30', '02:30'].map((at) => isTime(hour, `2026-10-25T${at}:00Z`));
    expect(found).toEqual([true, true, false]);
  });

  test('a night over the change of the clock ends by the clock', () => {
    expect(isTime(night, '2026-03-29T04:59:00Z')).toBe(true);
    expect(isTime(night, '2026-03-29T05:00:00Z')).toBe(false);
    expect(isTime(night, '2026-10-25T05:59:00Z')).toBe(true);
    expect(isTime(night, '2026-10-25T06:00:00Z')).toBe(false);
  });
});

describe('the day of the week', () => {
  const friday = { zone: 'UTC', between: ['22:00', '07:00'], days: ['fri'] } as const;

  it('is the one on which a night begins', () => {
    expect(isTime(friday, '2026-01-16T23:00:00Z')).toBe(true);
    expect(isTime(friday, '2026-01-17T06:59:00Z')).toBe(true);
    expect(isTime(friday, '2026-01-16T06:00:00Z')).toBe(false);
    expect(isTime(friday, '2026-01-17T23:00:00Z')).toBe(false);
  });

  it('goes from Saturday to Sunday', () => {
    const saturday = { ...friday, days: ['sat'] } as const;
    expect(isTime(saturday, '2026-01-18T03:00:00Z')).toBe(true);
  });

  it('is that of the place', () => {
    const monday = { zone: 'Pacific/Auckland', days: ['mon'] } as const;
    expect(isTime(monday, '2026-01-18T12:00:00Z')).toBe(true);
    expect(isTime(monday, '2026-01-19T12:00:00Z')).toBe(false);
  });
});

it('splits every moment between a window and the rest of the day', () => {
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

it('cannot be told without a clock, and then restricts', () => {
  for (const now of [NaN, Infinity, 1e300, 'noon' as unknown as number]) {
    expect(isTime(night, now)).toBe(true);
  }
});
