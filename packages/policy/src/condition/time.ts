import { DAYS, type Day, type TimeCondition } from '../config.js';
import { matchResult, type MatchResult } from './node.js';

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Undefined for an unknown time zone. Cached, because creating a formatter is slow. */
export function localClock(zone: string): Intl.DateTimeFormat | undefined {
  const known = clocks.get(zone);
  if (known) return known;
  try {
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    clocks.set(zone, clock);
    return clock;
  } catch {
    return undefined;
  }
}

/**
 * Compares local time: an hour that daylight saving skips never matches, and a repeated hour matches
 * twice. A window over midnight belongs to the day on which it starts.
 */
export function timeTest(
  time: TimeCondition,
  clock: Intl.DateTimeFormat,
): (now: number) => MatchResult {
  const isTime = windowTest(time);
  return (now) => {
    if (!Number.isFinite(now)) return 'unknown';
    const { day, minute } = readClock(clock, now);
    return matchResult(isTime(day, minute));
  };
}

function windowTest({
  between = ['00:00', '24:00'],
  days,
}: TimeCondition): (day: number, minute: number) => boolean {
  const [from, to] = between.map(minutesOf) as [number, number];
  const isDay = (day: number): boolean => !days || days.includes(dayAt(day));
  return (day, minute) => {
    if (from < to) return isDay(day) && minute >= from && minute < to;
    return (isDay(day) && minute >= from) || (isDay(day - 1) && minute < to);
  };
}

function readClock(clock: Intl.DateTimeFormat, now: number): { day: number; minute: number } {
  const parts = clock.formatToParts(now);
  const part = (type: string): string =>
    parts.find((candidate) => candidate.type === type)?.value ?? '';
  const day = DAYS.indexOf(part('weekday').toLowerCase() as Day);
  return { day, minute: Number(part('hour')) * 60 + Number(part('minute')) };
}

function minutesOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}

const dayAt = (index: number): Day => DAYS[(index + DAYS.length) % DAYS.length] ?? 'sun';

export function formatTime({ zone, between, days }: TimeCondition): string {
  const parts = [
    between ? [`it is between ${between[0]} and ${between[1]}`] : ['it is'],
    days ? [`on ${days.join(', ')}`] : [],
    [`in ${zone}`],
  ];
  return parts.flat().join(' ');
}
