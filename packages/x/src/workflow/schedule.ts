import { raise, toolError } from '@toolkeel/contract';

const LOCAL = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2}))?$/;
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;
const MAX_AHEAD_MS = 366 * DAY_MS;

export interface ScheduledTime {
  /** Unix milliseconds. */
  readonly at: number;
  readonly timeZone: string;
}

/**
 * Reads a time with an offset, or a local time in `timeZone`. Refuses times that do not exist there. Of a
 * local time that occurs twice, the first counts.
 */
export function readSchedule(given: string, timeZone: string | undefined): ScheduledTime {
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    invalid('time_zone', 'is not an IANA time zone such as Europe/Rome');
  }
  const at = WITH_OFFSET.test(given) ? timeWithOffset(given) : localTime(given, timeZone);
  if (Number.isNaN(at)) invalid('scheduled_for', 'is not a date and time such as 2026-06-01T09:00');
  return { at, timeZone: timeZone ?? 'UTC' };
}

/** Refuses the past, and more than a year ahead. */
export function checkAhead({ at }: ScheduledTime, now: number): void {
  if (at <= now) invalid('scheduled_for', 'is in the past');
  if (at > now + MAX_AHEAD_MS) invalid('scheduled_for', 'is more than a year ahead');
}

/** `Date.parse` alone would take the 30th of February for the 2nd of March. */
function timeWithOffset(given: string): number {
  const day = new Date(`${given.slice(0, 10)}T00:00Z`);
  const isDay =
    !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === given.slice(0, 10);
  return isDay ? Date.parse(given) : Number.NaN;
}

function localTime(given: string, timeZone: string | undefined): number {
  const parts = LOCAL.exec(given);
  if (!parts) return Number.NaN;
  if (timeZone === undefined) {
    invalid('time_zone', 'is required for a time without an offset');
  }
  const [year, month, day, hour, minute, second = 0] = parts
    .slice(1)
    .filter((part) => part !== undefined)
    .map(Number) as [number, number, number, number, number, number?];
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second);
  // Rejects the 31st of June, which Date.UTC would turn into July.
  if (new Date(asUtc).toISOString().slice(0, 16) !== given.slice(0, 16)) return Number.NaN;
  // The offsets before and after a change on that day; the earlier moment is the first occurrence.
  const candidates = [asUtc - DAY_MS, asUtc + DAY_MS]
    .map((near) => asUtc - offsetAt(near, timeZone))
    .filter((at) => at + offsetAt(at, timeZone) === asUtc);
  if (candidates.length === 0) {
    invalid(
      'scheduled_for',
      'does not exist in that time zone, because clocks are set forward then',
    );
  }
  return Math.min(...candidates);
}

/** Local time minus UTC, in milliseconds. */
function offsetAt(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const found = Object.fromEntries(
    format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
  const { year, month, day, hour, minute, second } = found;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en-US', { timeZone: name }));
  } catch {
    return false;
  }
}

/** The moment on the clocks of the zone: `2026-06-01 09:00 Europe/Rome`. */
export function showLocal({ at, timeZone }: ScheduledTime): string {
  const local = new Date(at + offsetAt(at, timeZone)).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 16)} ${timeZone}`;
}

export function invalid(field: string, reason: string): never {
  return raise(
    toolError('invalid_input', `${field}: ${reason}`, {
      outcome: 'not_executed',
      details: { field, reason },
    }),
  );
}
