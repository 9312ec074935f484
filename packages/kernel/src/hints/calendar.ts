/** Milliseconds since the epoch of a UTC date and time, or undefined if there is no such moment. */
export function utc(
  date: CalendarDate,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  const days = dayNumber(date);
  // 60 is a leap second, which both RFC 9110 and RFC 3339 allow; it is the next minute's first.
  if (days === undefined || hour > 23 || minute > 59 || second > 60) return undefined;
  return days * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1000;
}

/** A day in the proleptic Gregorian calendar; months count from 1. */
export interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** 0 is Sunday. */
export function weekday(date: CalendarDate): number | undefined {
  const days = dayNumber(date);
  return days === undefined ? undefined : (((days + 4) % 7) + 7) % 7;
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days since 1970-01-01. Own arithmetic, because `Date.UTC` rolls 31 February over silently. */
function dayNumber({ year, month, day }: CalendarDate): number | undefined {
  const length = month === 2 && isLeap(year) ? 29 : MONTH_DAYS[month - 1];
  if (length === undefined || day < 1 || day > length) return undefined;
  // Counting years from March puts the leap day last, so one formula serves all months.
  const y = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + dayOfYear - 719_468;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
