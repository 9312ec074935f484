import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overlapsSpan, parseDatetime } from './datetime.js';

describe('datetime', () => {
  it.each([
    ['2024', '2024-01-01T00:00:00Z/2024-12-31T23:59:59.999Z'],
    ['2024-02', '2024-02-01T00:00:00Z/2024-02-29T23:59:59.999Z'],
    ['2023-02', '2023-02-01T00:00:00Z/2023-02-28T23:59:59.999Z'],
    ['2024-06-15', '2024-06-15T00:00:00Z/2024-06-15T23:59:59.999Z'],
    ['2024-06-15T10:00:00Z', '2024-06-15T10:00:00Z'],
    ['2024-06-15T10:00', '2024-06-15T10:00:00Z'],
    ['2024-06-15 10:00:00', '2024-06-15T10:00:00Z'],
    ['2024-06-15T10:00:00.123+02:00', '2024-06-15T10:00:00.123+02:00'],
    ['2024-06-15T10:00:00+0200', '2024-06-15T10:00:00+02:00'],
    ['2024-06-01/2024-06-30', '2024-06-01T00:00:00Z/2024-06-30T23:59:59.999Z'],
    ['2023/2024-03', '2023-01-01T00:00:00Z/2024-03-31T23:59:59.999Z'],
    ['2024-06-01/..', '2024-06-01T00:00:00Z/..'],
    ['2024-06-01/', '2024-06-01T00:00:00Z/..'],
    ['../2024-06-01', '../2024-06-01T23:59:59.999Z'],
    ['/2024-06-01T12:00:00Z', '../2024-06-01T12:00:00Z'],
    [' 2024-06-01 / 2024-06-02 ', '2024-06-01T00:00:00Z/2024-06-02T23:59:59.999Z'],
  ])('parses %s', (given, value) => {
    expect(parseDatetime(given)).toMatchObject({ ok: true, value });
  });

  it.each([
    '',
    '/',
    '../..',
    '..',
    'yesterday',
    '2024-13',
    '2024-02-30',
    '2024-06-31T00:00:00Z',
    '2024-06-15T25:00:00Z',
    '2024-06-30/2024-06-01',
    '2024/2024/2024',
    '24-06-01',
    '2024-6-1',
  ])('rejects %s', (given) => {
    expect(parseDatetime(given)).toMatchObject({ ok: false });
  });

  it('returns ordered RFC 3339 datetimes', () => {
    const date = fc.date({
      min: new Date('1970-01-01'),
      max: new Date('2999-12-31'),
      noInvalidDate: true,
    });
    const form = fc.constantFrom(4, 7, 10, 24);
    fc.assert(
      fc.property(date, date, form, form, (a, b, n, m) => {
        const [from, to] = [a, b].toSorted((x, y) => x.getTime() - y.getTime());
        const read = parseDatetime(
          `${from!.toISOString().slice(0, n)}/${to!.toISOString().slice(0, m)}`,
        );
        if (!read.ok) return;
        const [first = '', last = ''] = read.value.split('/');
        expect(Date.parse(first)).toBeLessThanOrEqual(from!.getTime());
        expect(Date.parse(last)).toBeGreaterThanOrEqual(m === 24 ? to!.getTime() : to!.getTime());
        expect(read.span).toEqual({ from: Date.parse(first), to: Date.parse(last) });
      }),
    );
  });

  it('accepts any string without throwing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof parseDatetime(text).ok).toBe('boolean');
      }),
    );
  });

  it('compares items with a datetime, an interval or neither', () => {
    const span = { from: Date.parse('2024-06-01'), to: Date.parse('2024-06-30') };
    expect(overlapsSpan({ datetime: '2024-06-15T00:00:00Z' }, span)).toBe(true);
    expect(overlapsSpan({ datetime: '2024-07-15T00:00:00Z' }, span)).toBe(false);
    const around = {
      datetime: null,
      start_datetime: '2024-01-01T00:00:00Z',
      end_datetime: '2024-12-31T00:00:00Z',
    };
    expect(overlapsSpan(around, span)).toBe(true);
    expect(overlapsSpan({ ...around, end_datetime: '2024-05-01T00:00:00Z' }, span)).toBe(false);
    expect(overlapsSpan({}, span)).toBe(false);
  });
});
