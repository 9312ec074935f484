import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../api/http.js';
import { createCatalogue } from '../catalogue/catalogue.js';
import { flavours } from '../flavours.js';
import { parametersFromQuery, parseSearch } from './query.js';
import { decodeCursor, encodeCursor, type Cursor } from './paging.js';
import { fieldsFromText } from './fields.js';
import { sortKeysFromText } from './select.js';
import { instantOf, spanOf } from './parameters.js';

describe('times', () => {
  test.for([
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2024-02-29t00:00:00.5z', Date.UTC(2024, 1, 29, 0, 0, 0, 500)],
    ['2024-02-29 00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2024-02-29T01:30:00+01:30', Date.UTC(2024, 1, 29)],
    ['2023-02-29T00:00:00Z', undefined],
    ['2024-13-01T00:00:00Z', undefined],
    ['2024-01-01T25:00:00Z', undefined],
    ['2024-01-01T00:00:00', undefined],
    ['2024-01-01', undefined],
    ['1704067200', undefined],
    ['', undefined],
  ] as const)('%s', ([text, ms]) => {
    expect(instantOf(text)).toBe(ms);
  });

  test('in ISO format are parsed', () => {
    const date = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(date, (it) => instantOf(it.toISOString()) === it.getTime()));
  });

  test('are parsed as spans or rejected', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          const { from, to } = spanOf(text);
          expect(from).toBeLessThanOrEqual(to);
        } catch (cause) {
          expect(cause).toBeInstanceOf(Problem);
        }
      }),
    );
  });
});

describe('query strings', () => {
  test('are equivalent to bodies', () => {
    const query = new URLSearchParams({
      bbox: '1, 2,3,4',
      collections: 'a,b',
      sortby: '+a,-properties.b, c',
      fields: 'id,-geometry,+properties.c',
      limit: '5',
      filter: '{"op":"=","args":[]}',
      'filter-lang': 'cql2-json',
      odd: '1',
    });
    expect(parametersFromQuery(query)).toEqual({
      parameters: {
        bbox: [1, 2, 3, 4],
        collections: ['a', 'b'],
        sortby: [
          { field: 'a', direction: 'asc' },
          { field: 'properties.b', direction: 'desc' },
          { field: 'c', direction: 'asc' },
        ],
        fields: { include: ['id', 'properties.c'], exclude: ['geometry'] },
        limit: 5,
        filter: { op: '=', args: [] },
        'filter-lang': 'cql2-json',
      },
      unknown: ['odd'],
    });
    expect(parametersFromQuery(new URLSearchParams('filter=a&fields=&ids='))).toEqual({
      parameters: { filter: 'a', 'filter-lang': 'cql2-text', fields: { include: [], exclude: [] } },
      unknown: [],
    });
  });

  test('with an unescaped plus sign sort in ascending order', () => {
    const text = new URLSearchParams('sortby=+datetime').get('sortby');
    expect(sortKeysFromText(text ?? '')).toEqual([{ field: 'datetime', direction: 'asc' }]);
    expect(fieldsFromText('')).toEqual({ include: [], exclude: [] });
  });
});

describe('cursors', () => {
  const all = Object.values(flavours);

  test('are decoded as they were encoded', () => {
    const name = fc.stringMatching(/^[\w-]{1,60}$/);
    fc.assert(
      fc.property(name, name, fc.constantFrom(...all), (collection, id, traits) => {
        const cursor: Cursor =
          traits.pageParameter === 'page' ? { page: 7 } : { scene: [collection, id], nonce: 3 };
        expect(decodeCursor(encodeCursor(cursor, traits), traits)).toEqual(cursor);
      }),
    );
  });

  test('that are invalid are rejected', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.base64String(), fc.jsonValue()),
        fc.constantFrom(...all),
        (given, traits) => {
          try {
            expect(typeof decodeCursor(given, traits)).toBe('object');
          } catch (cause) {
            expect(cause).toBeInstanceOf(Problem);
          }
        },
      ),
    );
  });
});

test('arbitrary JSON is parsed or rejected as a search', () => {
  const catalogue = createCatalogue({ seed: 1, scale: 0.01 });
  const names = [
    'bbox',
    'intersects',
    'datetime',
    'ids',
    'collections',
    'limit',
    'sortby',
    'fields',
    'query',
    'filter',
    'q',
  ];
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom([0, 0, 1, 1], { type: 'Polygon', coordinates: [] }, [{ field: 'id' }], 5, [
      'a',
    ]),
  );
  const body = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 });
  fc.assert(
    fc.property(body, fc.constantFrom(...Object.values(flavours)), (given, traits) => {
      try {
        expect(parseSearch(given, catalogue, traits).limit).toBeGreaterThan(0);
      } catch (cause) {
        expect(cause).toBeInstanceOf(Problem);
      }
    }),
    { numRuns: 1000 },
  );
});
