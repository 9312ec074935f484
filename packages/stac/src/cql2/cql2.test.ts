import type { JsonObject } from '@toolkeel/pack-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterSyntaxError } from './lexer.js';
import { parseCql2 } from './parse.js';
import { printCql2 } from './print.js';

const property = (name: string) => ({ property: name });

describe('CQL2', () => {
  it.each([
    ['eo:cloud_cover < 10', { op: '<', args: [property('eo:cloud_cover'), 10] }],
    ["platform = 'it''s'", { op: '=', args: [property('platform'), "it's"] }],
    ['a = -1.5e3', { op: '=', args: [property('a'), -1500] }],
    ['"odd name" <> TRUE', { op: '<>', args: [property('odd name'), true] }],
    ['a IS NULL', { op: 'isNull', args: [property('a')] }],
    ['a is not null', { op: 'not', args: [{ op: 'isNull', args: [property('a')] }] }],
    ["a LIKE 'S2%'", { op: 'like', args: [property('a'), 'S2%'] }],
    ["a NOT IN ('x', 'y')", { op: 'not', args: [{ op: 'in', args: [property('a'), ['x', 'y']] }] }],
    ["a IN ('x')", { op: 'in', args: [property('a'), ['x']] }],
    [
      'a BETWEEN 1 AND 2 AND b = 3',
      {
        op: 'and',
        args: [
          { op: 'between', args: [property('a'), 1, 2] },
          { op: '=', args: [property('b'), 3] },
        ],
      },
    ],
    [
      'a = 1 OR b = 2 AND NOT c = 3',
      {
        op: 'or',
        args: [
          { op: '=', args: [property('a'), 1] },
          {
            op: 'and',
            args: [
              { op: '=', args: [property('b'), 2] },
              { op: 'not', args: [{ op: '=', args: [property('c'), 3] }] },
            ],
          },
        ],
      },
    ],
    [
      '(a + b) * 2 > c ^ 2',
      {
        op: '>',
        args: [
          { op: '*', args: [{ op: '+', args: [property('a'), property('b')] }, 2] },
          { op: '^', args: [property('c'), 2] },
        ],
      },
    ],
    [
      "datetime >= TIMESTAMP('2024-01-01T00:00:00Z')",
      { op: '>=', args: [property('datetime'), { timestamp: '2024-01-01T00:00:00Z' }] },
    ],
    [
      "T_INTERSECTS(datetime, INTERVAL('2024-01-01', '..'))",
      { op: 't_intersects', args: [property('datetime'), { interval: ['2024-01-01', '..'] }] },
    ],
    [
      'S_INTERSECTS(geometry, POINT(-10 45.5))',
      {
        op: 's_intersects',
        args: [property('geometry'), { type: 'Point', coordinates: [-10, 45.5] }],
      },
    ],
    [
      'S_WITHIN(geometry, POLYGON((0 0, 1 0, 1 1, 0 0)))',
      {
        op: 's_within',
        args: [
          property('geometry'),
          {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [1, 0],
                [1, 1],
                [0, 0],
              ],
            ],
          },
        ],
      },
    ],
    [
      'S_INTERSECTS(geometry, BBOX(0, 1, 2, 3))',
      { op: 's_intersects', args: [property('geometry'), { bbox: [0, 1, 2, 3] }] },
    ],
    [
      "CASEI(a) = casei('X')",
      {
        op: '=',
        args: [
          { op: 'casei', args: [property('a')] },
          { op: 'casei', args: ['X'] },
        ],
      },
    ],
  ])('parses %s', (text, json) => {
    expect(parseCql2(text)).toEqual(json);
    expect(parseCql2(printCql2(json))).toEqual(json);
  });

  it.each([
    '',
    'a',
    "'x'",
    '1',
    'a =',
    'a = 1 AND',
    '(a = 1',
    "a = 'x",
    'a = 1)',
    'a ~ 1',
    'a NOT 1',
    'AND',
    'POINT(1)',
    'a IN 5',
    '('.repeat(100),
  ])('rejects %s', (text) => {
    if (text === 'a') expect(parseCql2(text)).toEqual({ property: 'a' });
    else expect(() => parseCql2(text)).toThrow(FilterSyntaxError);
  });

  it.each([
    [{}],
    [{ op: '=' }],
    [{ op: 'and', args: [] }],
    [{ op: 'drop table', args: [] }],
    [{ op: '=', args: [null, 1] }],
    [{ op: '=', args: [{ type: 'Circle' }, 1] }],
  ])('does not print %j', (json) => {
    expect(() => printCql2(json)).toThrow(FilterSyntaxError);
  });

  const name = fc.stringMatching(/^[a-z][a-z0-9_:.]{0,8}$/);
  const scalar = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    fc.boolean(),
    fc.oneof(name, fc.string({ minLength: 1 })).map(property),
  );
  const comparison = fc
    .tuple(fc.constantFrom('=', '<>', '<', '>', '<=', '>='), scalar, scalar)
    .map(([op, a, b]): JsonObject => ({ op, args: [a, b] }));
  const { filter } = fc.letrec<{ filter: JsonObject }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small' },
      comparison,
      fc
        .tuple(
          fc.constantFrom('and', 'or'),
          fc.array(tie('filter'), { minLength: 2, maxLength: 3 }),
        )
        .map(([op, args]) => ({ op, args })),
      tie('filter')
        .filter(({ op }) => op !== 'not')
        .map((one) => ({ op: 'not', args: [one] })),
      fc
        .tuple(scalar, fc.array(scalar))
        .map(([value, list]) => ({ op: 'in', args: [value, list] })),
      fc.tuple(scalar, scalar, scalar).map((args) => ({ op: 'between', args })),
      scalar.map((value) => ({ op: 'isNull', args: [value] })),
    ),
  }));

  it('round-trips between text and JSON', () => {
    fc.assert(
      fc.property(filter, (json) => {
        expect(parseCql2(printCql2(json))).toEqual(json);
      }),
    );
  });

  it('only throws FilterSyntaxError', () => {
    const pieces = fc.array(
      fc.constantFrom(
        'a',
        '(',
        ')',
        ',',
        "'",
        '=',
        '<',
        'AND',
        'NOT',
        'IN',
        '1',
        '-',
        'POLYGON',
        'DATE',
        ' ',
        '"',
        'LIKE',
        '^',
      ),
      { maxLength: 25 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          pieces.map((list) => list.join(' ')),
          fc.string(),
        ),
        (text) => {
          try {
            parseCql2(text);
          } catch (cause) {
            expect(cause).toBeInstanceOf(FilterSyntaxError);
          }
        },
      ),
      { numRuns: 400 },
    );
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('op', 'args', 'property', 'type', 'interval', 'coordinates'),
          fc.jsonValue(),
        ),
        (json) => {
          try {
            printCql2(json);
          } catch (cause) {
            expect(cause).toBeInstanceOf(FilterSyntaxError);
          }
        },
      ),
    );
  });
});
