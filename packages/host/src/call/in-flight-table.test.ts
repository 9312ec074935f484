import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InFlightTable } from './in-flight-table.js';

const key = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 300 }).map(String),
);

describe('InFlightTable', () => {
  it('behaves like a Map, in the order of insertion', () => {
    const step = fc.record({ key, isDeletion: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1000 }), (steps) => {
        const table = new InFlightTable<number>();
        const map = new Map<string | number, number>();
        for (const [index, { key: one, isDeletion }] of steps.entries()) {
          if (isDeletion) expect(table.delete(one)).toBe(map.delete(one));
          else {
            table.set(one, index);
            map.set(one, index);
          }
          expect(table.get(one)).toBe(map.get(one));
          expect(table.has(one)).toBe(map.has(one));
          expect(table.size).toBe(map.size);
        }
        expect(table.values()).toEqual([...map.values()]);
        table.clear();
        expect(table.size).toBe(0);
        expect(table.values()).toEqual([]);
        for (const one of map.keys()) expect(table.has(one)).toBe(false);
      }),
    );
  });

  it('distinguishes the number 1 from the string "1"', () => {
    const table = new InFlightTable<string>();
    table.set(1, 'number');
    table.set('1', 'string');
    expect([table.get(1), table.get('1')]).toEqual(['number', 'string']);
  });

  it('accepts ids that are no 32-bit integers', () => {
    const table = new InFlightTable<number>();
    const ids = [-1, 0.5, 2 ** 40, Number.MAX_SAFE_INTEGER, -(2 ** 31)];
    for (const id of ids) table.set(id, id);
    expect(ids.map((id) => table.get(id))).toEqual(ids);
  });

  it('finds nothing by a key that is neither a string nor a number', () => {
    const table = new InFlightTable<number>();
    table.set(1, 1);
    for (const key of [undefined, null, {}, [], true]) {
      const id = key as string;
      expect([table.get(id), table.has(id), table.delete(id)]).toEqual([undefined, false, false]);
    }
    expect(table.size).toBe(1);
  });

  it('allows deletions while its values are visited', () => {
    const table = new InFlightTable<number>();
    for (let at = 0; at < 10; at++) table.set(at, at);
    for (const value of table.values()) table.delete(value);
    expect(table.size).toBe(0);
  });
});
