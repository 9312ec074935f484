import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRfc3339 } from './rfc3339.js';

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
  ])('refuses %j', (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
  });

  it('reads back what toISOString writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (at) => {
        expect(parseRfc3339(new Date(at).toISOString())).toBeCloseTo(at, 3);
      }),
      { numRuns: 500 },
    );
  });
});
