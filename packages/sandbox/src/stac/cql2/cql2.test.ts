import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../api/http.js';
import { footprintOf, type Scene } from '../catalogue/scene.js';
import { compileFilter } from './compile.js';
import { parseText } from './parse.js';

const scene: Scene = {
  collection: 'sentinel-2-l2a',
  id: 'S2A_31UDQ_20240102',
  footprint: footprintOf([
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 49],
      [2, 48],
    ],
  ]),
  from: Date.UTC(2024, 0, 2, 10),
  to: Date.UTC(2024, 0, 2, 10),
  properties: {
    datetime: '2024-01-02T10:00:00.000Z',
    created: '2024-01-02T10:00:00.000Z',
    updated: '2024-01-05T00:00:00.000Z',
    platform: 'sentinel-2a',
    'eo:cloud_cover': 12.5,
    gsd: 10,
    wet: true,
    'proj:code': null,
    note: "50% of O'Hara's_field",
  },
};
const holds = (filter: unknown): boolean => compileFilter(filter, (name) => name)(scene);

describe('CQL2 text', () => {
  test.for([
    ['a = 1', { op: '=', args: [{ property: 'a' }, 1] }],
    ['"eo:cloud_cover" <= 1e1', { op: '<=', args: [{ property: 'eo:cloud_cover' }, 10] }],
    ["a <> 'it''s'", { op: '<>', args: [{ property: 'a' }, "it's"] }],
    ['a.b:c IS NOT NULL', { op: 'not', args: [{ op: 'isNull', args: [{ property: 'a.b:c' }] }] }],
    ['a between -1 and +2', { op: 'between', args: [{ property: 'a' }, -1, 2] }],
    [
      "a NOT IN ('x', 'y')",
      { op: 'not', args: [{ op: 'in', args: [{ property: 'a' }, ['x', 'y']] }] },
    ],
    ['TRUE', true],
    ['wet = false', { op: '=', args: [{ property: 'wet' }, false] }],
    [
      "a >= TIMESTAMP('2020-01-01T00:00:00Z')",
      { op: '>=', args: [{ property: 'a' }, { timestamp: '2020-01-01T00:00:00Z' }] },
    ],
    ["a < DATE('2020-01-01')", { op: '<', args: [{ property: 'a' }, { date: '2020-01-01' }] }],
    [
      "T_INTERSECTS(a, INTERVAL('..', '2020-01-01'))",
      { op: 't_intersects', args: [{ property: 'a' }, { interval: ['..', '2020-01-01'] }] },
    ],
    [
      's_intersects(geometry, BBOX(0,1,2,3))',
      { op: 's_intersects', args: [{ property: 'geometry' }, { bbox: [0, 1, 2, 3] }] },
    ],
    [
      'a = 1 OR b = 2 AND NOT c = 3',
      {
        op: 'or',
        args: [
          { op: '=', args: [{ property: 'a' }, 1] },
          {
            op: 'and',
            args: [
              { op: '=', args: [{ property: 'b' }, 2] },
              { op: 'not', args: [{ op: '=', args: [{ property: 'c' }, 3] }] },
            ],
          },
        ],
      },
    ],
    ['((a = b))', { op: '=', args: [{ property: 'a' }, { property: 'b' }] }],
  ] as const)('%s', ([text, json]) => {
    expect(parseText(text)).toEqual(json);
  });

  test.for([
    '',
    'a',
    'a =',
    '= 1',
    'a = 1 AND',
    '(a = 1',
    'a = 1)',
    'a LIKE',
    'a IN ()',
    "a = 'x",
    'a = 1 b',
    'NOT',
    'area(a) > 1',
    'a + 1 = 2',
    'S_INTERSECTS(geometry, POINT(1))',
    'S_INTERSECTS(geometry, CIRCLE(1 2))',
    `${'('.repeat(500)}a=1${')'.repeat(500)}`,
    `${'NOT '.repeat(500)}a=1`,
  ])('rejects %j', (text) => {
    expect(() => parseText(text)).toThrow(Problem);
  });

  test('is parsed or rejected for any text', () => {
    const words = fc.constantFrom(
      'a',
      'AND',
      'or',
      'NOT',
      '(',
      ')',
      '=',
      '<>',
      "'x'",
      '1',
      'IS',
      'NULL',
      'LIKE',
      'IN',
      ',',
      'BETWEEN',
      'POLYGON',
      'T_AFTER',
      'DATE',
      '"q"',
      'BBOX',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 12 }).map((it) => it.join(' ')),
    );
    fc.assert(
      fc.property(text, (given) => {
        try {
          holds(parseText(given));
        } catch (cause) {
          expect(cause).toBeInstanceOf(Problem);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a filter', () => {
  test.for([
    ['"eo:cloud_cover" < 20', true],
    ["platform = 'sentinel-2a'", true],
    ["platform <> 'sentinel-2a'", false],
    ["platform > 'sentinel-1'", true],
    // A missing property is neither equal nor unequal.
    ['missing = 1', false],
    ['missing <> 1', false],
    ['NOT missing = 1', false],
    ['missing IS NULL', true],
    ['"proj:code" IS NULL', true],
    ['NOT missing IS NULL', false],
    ['missing = 1 OR gsd = 10', true],
    ['NOT (missing = 1 AND gsd = 11)', true],
    ['NOT (missing = 1 AND gsd = 10)', false],
    ['missing IN (1, 2)', false],
    // Different types are not comparable.
    ["gsd = '10'", false],
    ["gsd <> '10'", false],
    ['wet = true', true],
    ['gsd IN (5, 10)', true],
    ['gsd NOT IN (5, 10)', false],
    ['gsd NOT BETWEEN 11 AND 12', true],
    ["note LIKE '50\\%%'", true],
    ["note LIKE '50\\_%'", false],
    ["note LIKE '%O''Hara''s_field'", true],
    ["note LIKE 'o%'", false],
    ['datetime = created', true],
    ['created < updated', true],
    ["datetime >= TIMESTAMP('2024-01-02T11:00:00+01:00')", true],
    ["datetime > TIMESTAMP('2024-01-02T10:00:00Z')", false],
    ["datetime >= DATE('2024-01-02')", true],
    ["datetime < '2024-01-02T10:30:00+01:00'", false],
    ["T_INTERSECTS(datetime, INTERVAL('2024-01-01', '2024-01-03'))", true],
    ["T_INTERSECTS(updated, INTERVAL('..', '2024-01-03'))", false],
    ["T_INTERSECTS(datetime, DATE('2024-01-02'))", true],
    ["T_BEFORE(datetime, TIMESTAMP('2024-01-02T10:00:00Z'))", false],
    ["T_AFTER(missing, DATE('2000-01-01'))", false],
    ['S_INTERSECTS(geometry, BBOX(2.5, 48.5, 4, 50))', true],
    ['S_INTERSECTS(BBOX(170, 0, -170, 80), geometry)', false],
  ] as const)('%s is %s', ([text, expected]) => {
    expect(holds(parseText(text))).toBe(expected);
  });

  test.for([
    5,
    null,
    'text',
    { op: '=' },
    { op: '=', args: [1] },
    { op: 'and', args: [true] },
    { op: 'not', args: [] },
    { op: 'in', args: [{ property: 'a' }, 5] },
    { op: 'in', args: [{ property: 'a' }, []] },
    { op: '=', args: [{ property: 'a' }, { op: '+', args: [1, 2] }] },
    { op: '=', args: [{ property: 'a' }, { timestamp: 5 }] },
    { op: '=', args: [{ property: 'a' }, { date: '2020-13-01' }] },
    { op: 't_after', args: [{ property: 'a' }] },
    { op: 't_after', args: [{ property: 'a' }, { interval: ['x', '..'] }] },
    { op: 's_intersects', args: [{ property: 'geometry' }, { type: 'Sphere' }] },
    { op: 's_within', args: [{ property: 'geometry' }, { bbox: [0, 0, 1, 1] }] },
    { op: 'constructor', args: [1, 2] },
  ])('%j is rejected', (filter) => {
    expect(() => holds(filter)).toThrow(Problem);
  });

  test('compares with GeoJSON geometries', () => {
    const at = (...coordinates: number[]) =>
      holds({
        op: 's_intersects',
        args: [{ property: 'geometry' }, { type: 'Point', coordinates }],
      });
    expect([at(2.5, 48.5), at(3.5, 48.5)]).toEqual([true, false]);
  });

  test('is compiled or rejected for any JSON', () => {
    const op = fc.constantFrom(
      'and',
      'or',
      'not',
      '=',
      'in',
      'like',
      'isNull',
      'between',
      't_after',
      's_intersects',
    );
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          1,
          'a',
          true,
          null,
          { property: 'gsd' },
          { timestamp: 'x' },
          { bbox: [0, 0, 1, 1] },
          {},
        ),
        fc.record({ op, args: fc.array(tie('node'), { maxLength: 3 }) }),
        fc.jsonValue({ maxDepth: 2 }),
      ),
    }));
    fc.assert(
      fc.property(node, (given) => {
        try {
          expect(typeof holds(given)).toBe('boolean');
        } catch (cause) {
          expect(cause).toBeInstanceOf(Problem);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
