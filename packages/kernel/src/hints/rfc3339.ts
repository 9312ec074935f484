import { utc } from './calendar.js';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

const LONGEST = '2026-01-01T00:00:00.123456789+00:00'.length;

/** An RFC 3339 timestamp ("2026-05-04T12:34:56Z") in milliseconds since the epoch. */
export function parseRfc3339(text: string): number | undefined {
  const match = text.length <= LONGEST ? RFC_3339.exec(text) : null;
  if (!match) return undefined;
  const date = { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
  const local = utc(date, Number(match[4]), Number(match[5]), Number(match[6]));
  const hours = Number(match[9] ?? 0);
  const minutes = Number(match[10] ?? 0);
  if (local === undefined || hours > 23 || minutes > 59) return undefined;
  const offset = (match[8] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return local - offset + Number(match[7] ?? 0) * 1000;
}
