import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateHistogram, endOf, medianOf, spreadOf, timeOf } from './statistics.js';

describe('the median', () => {
  it('is the middle value or the mean of the two middle values', () => {
    expect(medianOf([7])).toBe(7);
    expect(medianOf([1, 2, 9])).toBe(2);
    expect(medianOf([1, 2, 4, 9])).toBe(3);
    expect(spreadOf([9, 1, 4, 2])).toEqual({ min: 1, median: 3, mean: 4, max: 9 });
  });

  it('has as many values above it as below', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const sorted = values.toSorted((a, b) => a - b);
        const median = medianOf(sorted);
        expect(sorted.filter((one) => one < median).length).toBeLessThanOrEqual(values.length / 2);
        expect(sorted.filter((one) => one > median).length).toBeLessThanOrEqual(values.length / 2);
      }),
    );
  });
});

describe('times', () => {
  const span = {
    properties: {
      datetime: null,
      start_datetime: '2010-12-12T00:00:00Z',
      end_datetime: '2015-01-16T00:00:00Z',
    },
  };

  it('of an interval are its start and its end', () => {
    expect(timeOf(span)).toBe(Date.parse('2010-12-12'));
    expect(endOf(span)).toBe(Date.parse('2015-01-16'));
    const moment = { properties: { datetime: '2020-01-01T00:00:00Z', end_datetime: 'x' } };
    expect([timeOf(moment), endOf(moment)]).toEqual([Date.parse('2020'), Date.parse('2020')]);
  });

  it('beyond year 9999 and before year 0 keep their years, in order', () => {
    const times = ['+012024-05-06', '2024-05-07', '-000044-03-15', '2024-05-06'].map((text) =>
      Date.parse(`${text}T00:00:00Z`),
    );
    const keys = (interval: 'day' | 'month' | 'year') =>
      dateHistogram(times, interval).buckets.map(({ key, count }) => `${key}: ${count}`);
    expect(keys('year')).toEqual(['-000044: 1', '2024: 2', '+012024: 1']);
    expect(keys('month')).toEqual(['-000044-03: 1', '2024-05: 2', '+012024-05: 1']);
    expect(keys('day')[1]).toBe('2024-05-06: 1');
  });
});
