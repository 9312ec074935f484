import { utc, weekday } from './calendar.js';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** IMF-fixdate, then the obsolete forms of RFC 850 and of C's asctime(). */
const FORMS = [
  /^(?<dayName>\w{3}), (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?<dayName>\w{6,9}), (?<day>\d\d)-(?<month>\w{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?<dayName>\w{3}) (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

const LONGEST = 'Wednesday, 06-Nov-94 08:49:37 GMT'.length;

/**
 * An HTTP date (RFC 9110 §5.6.7) in milliseconds since the epoch, in all three forms that a
 * recipient must read. Not `Date.parse`, which also takes "1", "May" and local times. A weekday
 * that is not the date's own makes it malformed. `now` places RFC 850's two-digit years.
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  if (text.length > LONGEST) return undefined;
  for (const form of FORMS) {
    const groups = form.exec(text)?.groups;
    if (groups) return moment(groups, now);
  }
  return undefined;
}

function moment(groups: Readonly<Record<string, string>>, now: number): number | undefined {
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

/** RFC 9110: a two-digit year is the latest one with these digits that is not > 50 years ahead. */
function fullYear(twoDigits: number, now: number): number {
  const latest = new Date(now).getUTCFullYear() + 50;
  return latest - ((latest - twoDigits) % 100);
}
