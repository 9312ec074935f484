import { describe, expect, it } from 'vitest';
import { raisedToolError } from '@toolkeel/contract';
import { checkAhead, readSchedule, showLocal } from './schedule.js';

const now = Date.parse('2026-01-01T00:00:00Z');
const read = (given: string, zone?: string) => {
  try {
    const scheduled = readSchedule(given, zone);
    checkAhead(scheduled, now);
    return new Date(scheduled.at).toISOString();
  } catch (cause) {
    return raisedToolError(cause)?.input.message;
  }
};

describe('a scheduled time', () => {
  it.each([
    ['2026-06-01T09:00', 'Europe/Rome', '2026-06-01T07:00:00.000Z'],
    ['2026-01-15T09:00:30', 'Europe/Rome', '2026-01-15T08:00:30.000Z'],
    ['2026-06-01T09:00', 'America/New_York', '2026-06-01T13:00:00.000Z'],
    ['2026-06-01T00:30', 'Asia/Kolkata', '2026-05-31T19:00:00.000Z'],
    ['2026-06-01T09:00', 'Pacific/Apia', '2026-05-31T20:00:00.000Z'],
    ['2026-06-01T09:00:00+02:00', undefined, '2026-06-01T07:00:00.000Z'],
    // An explicit offset wins; the zone only names the clock to show.
    ['2026-06-01T09:00:00Z', 'Europe/Rome', '2026-06-01T09:00:00.000Z'],
    // Clocks are set back at 03:00: 02:30 occurs twice, and the first counts.
    ['2026-10-25T02:30', 'Europe/Rome', '2026-10-25T00:30:00.000Z'],
    ['2026-11-01T01:30', 'America/New_York', '2026-11-01T05:30:00.000Z'],
    // Half an hour only.
    ['2026-04-05T01:45', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z'],
    // The last minute before and the first after clocks are set forward.
    ['2026-03-29T01:59', 'Europe/Rome', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29T03:00', 'Europe/Rome', '2026-03-29T01:00:00.000Z'],
    ['2027-01-02T00:00:00Z', undefined, '2027-01-02T00:00:00.000Z'],
  ])('%s in %s is %s', (given, zone, expected) => {
    expect(read(given, zone)).toBe(expected);
  });

  it.each([
    ['2026-03-29T02:30', 'Europe/Rome', 'does not exist'],
    ['2026-03-08T02:30', 'America/New_York', 'does not exist'],
    ['2026-10-04T02:15', 'Australia/Lord_Howe', 'does not exist'],
    ['2026-06-31T09:00', 'Europe/Rome', 'not a date'],
    // As an offset is given, Date.parse alone would turn these into the next month.
    ['2026-06-31T09:00Z', undefined, 'not a date'],
    ['2026-02-29T09:00:00+01:00', undefined, 'not a date'],
    ['2026-13-01T09:00Z', undefined, 'not a date'],
    ['2026-06-01T09:00+99:00', undefined, 'not a date'],
    ['2026-06-01T25:00', 'Europe/Rome', 'not a date'],
    ['tomorrow', 'Europe/Rome', 'not a date'],
    ['2026-06-01', 'Europe/Rome', 'not a date'],
    ['2026-06-01T09:00', undefined, 'time_zone: is required'],
    ['2026-06-01T09:00', 'Rome', 'not an IANA'],
    ['2025-12-31T23:59:59Z', undefined, 'past'],
    ['2026-01-01T00:00:00Z', undefined, 'past'],
    ['2027-01-02T00:00:01Z', undefined, 'year ahead'],
    ['2028-01-01T00:00:00Z', undefined, 'year ahead'],
  ])('%s in %s is refused', (given, zone, message) => {
    expect(read(given, zone)).toContain(message);
  });

  it('is shown on the clock of its zone', () => {
    expect(showLocal(readSchedule('2026-06-01T09:00', 'Europe/Rome'))).toBe(
      '2026-06-01 09:00 Europe/Rome',
    );
  });
});
