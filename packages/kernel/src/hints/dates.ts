/** Epoch milliseconds of a UTC date and time; undefined if it does not exist. */
function utc(date: CalendarDate, hour: number, minute: number, second: number): number | undefined {
  const days = dayNumber(date);
  // RFC 9110 and RFC 3339 allow 60 for a leap second, which equals the next minute's first second.
  if (days === undefined || hour > 23 || minute > 59 || second > 60) return undefined;
  return days * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1000;
}

/** A day in the proleptic Gregorian calendar; months count from 1. */
interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** 0 is Sunday. */
function weekday(date: CalendarDate): number | undefined {
  const days = dayNumber(date);
  return days === undefined ? undefined : (((days + 4) % 7) + 7) % 7;
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days since 1970-01-01. `Date.UTC` would accept 31 February as a day in March. */
function dayNumber({ year, month, day }: CalendarDate): number | undefined {
  const length = month === 2 && isLeap(year) ? 29 : MONTH_DAYS[month - 1];
  if (length === undefined || day < 1 || day > length) return undefined;
  // Years that start in March have the leap day last, so one formula covers all months.
  const y = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + dayOfYear - 719_468;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** IMF-fixdate, then the obsolete forms of RFC 850 and of C's asctime(). */
const FORMS = [
  /^(?<dayName>\w{3}), (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?<dayName>\w{6,9}), (?<day>\d\d)-(?<month>\w{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?<dayName>\w{3}) (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

const MAX_HTTP_DATE_CHARS = 'Wednesday, 06-Nov-94 08:49:37 GMT'.length;

/**
 * Parses an HTTP date (RFC 9110 §5.6.7) in its three formats to epoch milliseconds. Stricter than
 * `Date.parse`, which accepts "1", "May" and local times; a wrong weekday is malformed. `now` resolves
 * the two-digit years of RFC 850.
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  if (text.length > MAX_HTTP_DATE_CHARS) return undefined;
  for (const form of FORMS) {
    const groups = form.exec(text)?.groups;
    if (groups) return epochMs(groups, now);
  }
  return undefined;
}

function epochMs(groups: Readonly<Record<string, string>>, now: number): number | undefined {
  const { dayName = '', day, month = '', year = '', time = '' } = groups;
  const short = year.length === 2;
  const date = {
    year: short ? fullYear(Number(year), now) : Number(year),
    month: MONTHS.indexOf(month) + 1,
    day: Number(day),
  };
  const name = DAYS[weekday(date) ?? -1];
  if (name === undefined || dayName !== (short ? name : name.slice(0, 3))) return undefined;
  return utc(date, Number(time.slice(0, 2)), Number(time.slice(3, 5)), Number(time.slice(6)));
}

/** RFC 9110: a two-digit year is the latest matching year at most 50 years ahead. */
function fullYear(twoDigits: number, now: number): number {
  const latest = new Date(now).getUTCFullYear() + 50;
  return latest - ((latest - twoDigits) % 100);
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

const MAX_RFC_3339_CHARS = '2026-01-01T00:00:00.123456789+00:00'.length;

/** Parses an RFC 3339 timestamp ("2026-05-04T12:34:56Z") to epoch milliseconds. */
export function parseRfc3339(text: string): number | undefined {
  const match = text.length <= MAX_RFC_3339_CHARS ? RFC_3339.exec(text) : null;
  if (!match) return undefined;
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  const local = utc(date, Number(match[4]), Number(match[5]), Number(match[6]));
  const hours = Number(match[9] ?? 0);
  const minutes = Number(match[10] ?? 0);
  if (local === undefined || hours > 23 || minutes > 59) return undefined;
  const offset = (match[8] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return local - offset + Number(match[7] ?? 0) * 1000;
}
