import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHttpDate, parseRfc3339 } from './dates.js';

const now = Date.UTC(2026, 4, 4);

describe('parseHttpDate', () => {
  it.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777_000],
    ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777_000],
    ['asctime', 'Sun Nov  6 08:49:37 1994', 784_111_777_000],
    ['asctime, two-digit day', 'Wed Nov 16 08:49:37 1994', 784_975_777_000],
    ['the epoch', 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['before the epoch', 'Wed, 31 Dec 1969 23:59:59 GMT', -1000],
    ['a leap day', 'Thu, 29 Feb 2024 12:00:00 GMT', Date.UTC(2024, 1, 29, 12)],
    ['a leap day of a 400th year', 'Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29)],
    ['a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['RFC 850 this century', 'Monday, 04-May-26 00:00:30 GMT', Date.UTC(2026, 4, 4, 0, 0, 30)],
    ['RFC 850 50 years ahead', 'Monday, 04-May-76 00:00:00 GMT', Date.UTC(2076, 4, 4)],
    ['RFC 850 51 years ahead', 'Wednesday, 04-May-77 00:00:00 GMT', Date.UTC(1977, 4, 4)],
  ])('reads %s', (_, text, expected) => {
    expect(parseHttpDate(text, now)).toBe(expected);
  });

  it('resolves RFC 850 years across the turn of a century', () => {
    const newYearsEve = Date.UTC(2099, 11, 31, 23, 59, 59);
    const text = 'Friday, 01-Jan-00 00:00:01 GMT';
    expect(parseHttpDate(text, newYearsEve)).toBe(Date.UTC(2100, 0, 1, 0, 0, 1));
  });

  it.each([
    '',
    '0',
    '2026',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Mon, 06 Nov 1994 08:49:37 GMT', // it was a Sunday
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 Nov 1994 8:49:37 GMT',
    'Sun,06 Nov 1994 08:49:37 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT ',
    'Sun, 06 Nov 1994 08:49:37 GMT\n',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    'Wed, 29 Feb 2023 00:00:00 GMT',
    'Thu, 29 Feb 1900 00:00:00 GMT',
    'Fri, 31 Nov 2023 00:00:00 GMT',
    'Fri, 00 Dec 2023 00:00:00 GMT',
    'Fri, 01 Foo 2023 00:00:00 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Monday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 94',
    'Sun Nov 06 08:49:37 1994 GMT',
  ])('rejects %j', (text) => {
    expect(parseHttpDate(text, now)).toBeUndefined();
  });

  const seconds = fc.integer({ min: -2_208_988_800, max: 253_402_300_799 });

  it('parses the output of toUTCString', () => {
    fc.assert(
      fc.property(seconds, (at) => {
        expect(parseHttpDate(new Date(at * 1000).toUTCString(), now)).toBe(at * 1000);
      }),
      { numRuns: 500 },
    );
  });

  it('parses the obsolete formats to the same time', () => {
    const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
    // RFC 850 reaches from 50 years ahead to 50 years back.
    const nearby = fc.integer({ min: now / 1000 - 1.5e9, max: now / 1000 + 1.5e9 });
    fc.assert(
      fc.property(nearby, (at) => {
        const date = new Date(at * 1000);
        const [, day = '', month = '', year = '', time = ''] = date.toUTCString().split(' ');
        const name = days[date.getUTCDay()] ?? '';
        const rfc850 = `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
        const padded = String(Number(day)).padStart(2);
        const asctime = `${name.slice(0, 3)} ${month} ${padded} ${time} ${year}`;
        expect(parseHttpDate(rfc850, now)).toBe(at * 1000);
        expect(parseHttpDate(asctime, now)).toBe(at * 1000);
      }),
      { numRuns: 300 },
    );
  });

  it('never parses a string that differs in one character to the same time', () => {
    fc.assert(
      fc.property(seconds, fc.nat(28), fc.string({ minLength: 1, maxLength: 1 }), (at, i, char) => {
        const text = new Date(at * 1000).toUTCString();
        const changed = text.slice(0, i) + char + text.slice(i + 1);
        const read = parseHttpDate(changed, now);
        if (changed !== text) expect(read).not.toBe(at * 1000);
      }),
      { numRuns: 500 },
    );
  });
});

describe('parseRfc3339', () => {
  it.each([
    ['2026-05-04T12:34:56Z', Date.UTC(2026, 4, 4, 12, 34, 56)],
    ['2026-05-04t12:34:56z', Date.UTC(2026, 4, 4, 12, 34, 56)],
    ['2026-05-04T12:34:56.5Z', Date.UTC(2026, 4, 4, 12, 34, 56, 500)],
    ['2026-05-04T12:34:56.123456789Z', Date.UTC(2026, 4, 4, 12, 34, 56) + 123.456789],
    ['2026-05-04T12:34:56+00:00', Date.UTC(2026, 4, 4, 12, 34, 56)],
    ['2026-05-04T07:08:00-05:00', Date.UTC(2026, 4, 4, 12, 8)],
    ['2026-05-04T07:08:00+05:30', Date.UTC(2026, 4, 4, 1, 38)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ])('reads %s', (text, expected) => {
    expect(parseRfc3339(text)).toBeCloseTo(expected, 3);
  });

  it.each([
    '',
    '2026-05-04',
    '2026-05-04T12:34:56',
    '2026-05-04 12:34:56Z',
    '2026-05-04T12:34Z',
    '2026-5-4T12:34:56Z',
    '2026-13-04T12:34:56Z',
    '2026-00-04T12:34:56Z',
    '2023-02-29T00:00:00Z',
    '2026-05-04T24:00:00Z',
    '2026-05-04T12:34:56.Z',
    '2026-05-04T12:34:56+24:00',
    '2026-05-04T12:34:56+0000',
    '+002026-05-04T12:34:56Z',
    '1746362096',
    '2026-05-04T12:34:56Z, 2026-05-04T12:34:56Z',
  ])('rejects %j', (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
  });

  it('parses the output of toISOString', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (at) => {
        expect(parseRfc3339(new Date(at).toISOString())).toBeCloseTo(at, 3);
      }),
      { numRuns: 500 },
    );
  });
});
