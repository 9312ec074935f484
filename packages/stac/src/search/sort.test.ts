import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInOrder, orderOf, parseSortby } from './sort.js';

const item = (id: string, properties: object = {}) => ({ id, properties });
const sorted = (sortby: string | undefined, items: readonly ReturnType<typeof item>[]) =>
  items
    .toSorted(orderOf(sortby === undefined ? undefined : parseSortby(sortby)))
    .map(({ id }) => id);

describe('orderOf', () => {
  const items = [
    item('b', { cloud: 5, datetime: '2024-01-01T00:00:00Z' }),
    item('a', { cloud: 50, datetime: '2024-01-01T00:00:00.5Z' }),
    item('d'),
    item('c', { cloud: 7, datetime: '2025-01-01T01:00:00+02:00' }),
  ];

  it('sorts by the keys, missing values last', () => {
    expect(sorted('cloud', items)).toEqual(['b', 'c', 'a', 'd']);
    expect(sorted('-properties.cloud', items)).toEqual(['a', 'c', 'b', 'd']);
    expect(sorted('-id', items)).toEqual(['d', 'c', 'b', 'a']);
    expect(sorted('datetime', items)).toEqual(['b', 'a', 'c', 'd']);
  });

  it('sorts newest first without keys', () => {
    expect(sorted(undefined, items)).toEqual(['c', 'a', 'b', 'd']);
  });

  it('uses the next key for equal values', () => {
    const alike = [item('x', { k: 1 }), item('z', { k: 1 }), item('y', { k: 0 })];
    expect(sorted('k,-id', alike)).toEqual(['y', 'z', 'x']);
  });

  it('is a consistent order for any values', () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant('2024-01-01T00:00:00Z'));
    const order = orderOf(parseSortby('-k'));
    const one = value.map((k) => item('x', { k }));
    fc.assert(
      fc.property(one, one, one, (a, b, c) => {
        expect(Math.sign(order(a, b)) + Math.sign(order(b, a))).toBe(0);
        if (order(a, b) <= 0 && order(b, c) <= 0) expect(order(a, c)).toBeLessThanOrEqual(0);
        expect(isInOrder([a, b, c].toSorted(order), order)).toBe(true);
      }),
    );
  });
});
