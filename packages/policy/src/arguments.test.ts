import { describe, expect, it, test } from 'vitest';
import { cpuTime } from './tools.fixture.js';
import { declarationAt, declaredPaths } from './arguments.js';
import { parsePath, formatPath } from './arguments.js';
import { readPath } from './arguments.js';

describe('a path', () => {
  test.for([
    ['args.text', 'args.text'],
    ['args["text"]', 'args.text'],
    ['args.a-b[*].c[12]["d e"]', 'args.a-b[*].c[12]["d e"]'],
    ['args["a.b"]["[*]"]', 'args["a.b"]["[*]"]'],
  ] as const)('%s is %s', ([given, same]) => {
    expect(formatPath(parsePath(given))).toBe(same);
  });

  const read = (args: unknown, path: string) => readPath(args, parsePath(path));

  it('reads every value', () => {
    const args = { list: [{ id: 1 }, { id: null }, {}, { id: 2 }], 'a b': { c: true } };
    expect(read(args, 'args.list[*].id')).toEqual({ values: [1, 2], unreadable: false });
    expect(read(args, 'args.list[3].id').values).toEqual([2]);
    expect(read(args, 'args["a b"].c').values).toEqual([true]);
    expect(read(args, 'args.none[*].x')).toEqual({ values: [], unreadable: false });
  });

  it('is unreadable through a value of another type', () => {
    expect(read({ list: 'one' }, 'args.list[*]')).toEqual({ values: [], unreadable: true });
    expect(read({ list: ['one'] }, 'args.list.name')).toEqual({ values: [], unreadable: true });
    expect(read(undefined, 'args.a').unreadable).toBe(true);
  });

  it('reads own properties only', () => {
    expect(read({}, 'args.constructor').values).toEqual([]);
    expect(read({}, 'args.__proto__').values).toEqual([]);
  });

  it('is unreadable in a very long array', () => {
    expect(read({ a: new Array(100_001).fill(1) }, 'args.a[*]').unreadable).toBe(true);
  });
});

describe('a declaration', () => {
  const schema = {
    type: 'object',
    properties: {
      text: { type: ['string', 'null'] },
      amount: { type: 'integer' },
      kind: { enum: ['a', 'b'] },
      list: { type: 'array', items: { $ref: '#/$defs/item' } },
      pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      choice: { anyOf: [{ type: 'string' }, { type: 'object', properties: { id: {} } }] },
      open: { type: 'object', additionalProperties: { type: 'string' } },
      loose: { type: 'object' },
      any: true,
      patterned: { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } },
      both: { allOf: [{ properties: { x: { const: 1 } } }, { required: ['x'] }] },
      nowhere: { $ref: '#/$defs/none' },
    },
    $defs: {
      item: {
        type: 'object',
        properties: { id: { type: 'string' }, next: { $ref: '#/$defs/item' } },
      },
    },
  };
  const at = (path: string) => {
    const declared = declarationAt(schema, parsePath(path));
    return declared && (declared.values ?? (declared.types ? [...declared.types] : 'anything'));
  };

  test.for<[string, unknown]>([
    ['args.text', ['string', 'null']],
    ['args.amount', ['number']],
    ['args.kind', ['a', 'b']],
    ['args.list', ['array']],
    ['args.list[*].id', ['string']],
    ['args.list[0].next.next.id', ['string']],
    ['args.list.id', undefined],
    ['args.list[*].name', undefined],
    ['args.pair[1]', ['number']],
    ['args.pair[2]', undefined],
    ['args.pair[*]', ['string', 'number']],
    ['args.choice', ['string', 'object']],
    ['args.choice.id', 'anything'],
    ['args.open.whatever', ['string']],
    ['args.loose.whatever', 'anything'],
    ['args.any.thing[*]', 'anything'],
    ['args.patterned.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', 'anything'],
    ['args.both.x', [1]],
    ['args.both.y', undefined],
    ['args.nowhere', 'anything'],
    ['args.txt', undefined],
    ['args.toString', undefined],
  ])('at %s is %j', ([path, declared]) => {
    expect(at(path)).toEqual(declared);
  });

  it('is listed for suggestions, even from a circular schema', () => {
    const paths = declaredPaths(schema);
    expect(paths).toEqual(expect.arrayContaining(['args.text', 'args.list[*].id', 'args.pair[*]']));
    expect(paths.length).toBeLessThan(100);
  });

  it('does not throw for an invalid schema', () => {
    const nonsense = [
      { type: [Object.create(null), 5], properties: [] },
      { properties: { a: 5, b: null, c: { $ref: '#/a/~2', anyOf: {}, enum: 'x', items: 7 } } },
      { $ref: '#' },
      null,
      [],
    ] as unknown as (typeof schema)[];
    for (const one of nonsense) {
      declaredPaths(one);
      expect(() => declarationAt(one, parsePath('args.c[*].d'))).not.toThrow();
    }
  });

  it('takes bounded time in a hostile schema', () => {
    const branches = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#/$defs/a' })) };
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`p${i}`, branches]),
    );
    const hostile = { type: 'object', properties, $defs: { a: { type: 'object', properties } } };
    const spent = cpuTime(() => {
      expect(declaredPaths(hostile).length).toBeLessThanOrEqual(300);
      expect(declarationAt(hostile, parsePath('args.p1.p2.p3.p4.none'))).toBeUndefined();
    });
    expect(spent).toBeLessThan(1000);
  });
});
