/** The start of a UTC day; undefined if it does not exist. Months count from 1. */
function dayOf(year: number, month: number, day: number): Date | undefined {
  const date = new Date(0);
  // Not `Date.UTC`, which takes the years 0 to 99 for those of the 20th century.
  date.setUTCFullYear(year, month - 1, day);
  // Both accept 31 February as a day in March.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined;
}

/** Epoch milliseconds of a time on a day; undefined if it does not exist. */
function timeOn(date: Date, hour: number, minute: number, second: number): number | undefined {
  // RFC 9110 and RFC 3339 allow 60 for a leap second, which equals the next minute's first second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  return date.getTime() + hour * 3_600_000 + minute * 60_000 + second * 1000;
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
  const fourDigits = short ? fullYear(Number(year), now) : Number(year);
  const date = dayOf(fourDigits, MONTHS.indexOf(month) + 1, Number(day));
  const name = date && DAYS[date.getUTCDay()];
  if (!name || dayName !== (short ? name : name.slice(0, 3))) return undefined;
  return timeOn(date, Number(time.slice(0, 2)), Number(time.slice(3, 5)), Number(time.slice(6)));
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
  const date = dayOf(Number(match[1]), Number(match[2]), Number(match[3]));
  const local = date && timeOn(date, Number(match[4]), Number(match[5]), Number(match[6]));
  const hours = Number(match[9] ?? 0);
  const minutes = Number(match[10] ?? 0);
  if (local === undefined || hours > 23 || minutes > 59) return undefined;
  const offset = (match[8] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return local - offset + Number(match[7] ?? 0) * 1000;
}
