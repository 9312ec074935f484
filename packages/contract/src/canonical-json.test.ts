import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { like } from './matchers.fixture.js';
import { canonicalJson, CanonicalJsonError } from './canonical-json.js';

function fromBits(hex: string): number {
  return Buffer.from(hex.padStart(16, '0'), 'hex').readDoubleBE();
}

describe('numbers, by the bits that RFC 8785 lists in its appendix B', () => {
  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
    ['4340000000000001', '9007199254740994'],
  ])('%s is %s', (bits, text) => {
    expect(canonicalJson(fromBits(bits))).toBe(text);
  });

  it.each([
    ['333333333.33333329', '333333333.3333333'],
    ['1E30', '1e+30'],
    ['4.50', '4.5'],
    ['2e-3', '0.002'],
    ['0.000000000000000000000000001', '1e-27'],
    ['9007199254740993', '9007199254740992'],
    ['1e-7', '1e-7'],
    ['-0', '0'],
    ['56.0', '56'],
  ])('%s read from JSON is %s', (given, text) => {
    expect(canonicalJson(JSON.parse(given))).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses %s',
    (number) => {
      expect(() => canonicalJson({ a: [number] })).toThrow(CanonicalJsonError);
    },
  );
});

describe('strings', () => {
  it('are escaped as the RFC prescribes', () => {
    const given = JSON.parse(String.raw`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`) as string;
    expect(canonicalJson(given)).toBe(String.raw`"€$\u000f\nA'B\"\\\\\"/"`);
  });

  it('uses the short escapes, lower-case hex, and leaves DEL and U+2028 alone', () => {
    expect(canonicalJson('\b\t\n\f\r\u0000\u001f\u007f\u2028</script>')).toBe(
      '"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\u2028</script>"',
    );
  });

  it('keeps composed and decomposed letters apart', () => {
    expect(canonicalJson('\u00c5')).not.toBe(canonicalJson('A\u030a'));
  });

  it.each(['\ud800', 'a\udc00', '\udc00\ud800'])('rejects a lone surrogate (%j)', (text) => {
    expect(() => canonicalJson(text)).toThrow('lone surrogate');
    expect(() => canonicalJson({ [text]: 1 })).toThrow('lone surrogate');
  });
});

describe('objects', () => {
  it('sorts members by UTF-16 code units, as in the RFC', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalJson(sample)) as object)).toHaveLength(7);
    const order = [...canonicalJson(sample).matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
    expect(order).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('sorts at every depth and keeps the order of arrays', () => {
    const given = {
      '1': { f: { f: 'hi', F: 5 }, '\n': 56 },
      '10': {},
      '': 'empty',
      a: [3, { z: 1, y: 2 }],
    };
    expect(canonicalJson(given)).toBe(
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"a":[3,{"y":2,"z":1}]}',
    );
  });

  it('drops members that are undefined, as JSON does', () => {
    expect(canonicalJson({ a: undefined, b: null })).toBe('{"b":null}');
  });

  it('accepts an object that is referenced twice', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared, { shared }])).toBe(
      '[{"a":1},{"a":1},{"shared":{"a":1}}]',
    );
  });

  it('treats __proto__ as an ordinary member', () => {
    const given: unknown = JSON.parse('{"b":1,"__proto__":{"a":2}}');
    expect(canonicalJson(given)).toBe('{"__proto__":{"a":2},"b":1}');
  });

  it('accepts objects without a prototype', () => {
    expect(canonicalJson(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });
});

describe('values without a canonical form', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = [cycle];
  const deep: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000));

  it.each<[string, unknown, string]>([
    ['undefined', undefined, '$'],
    ['a function', { a: () => 1 }, '$.a'],
    ['a symbol', [Symbol('x')], '$[0]'],
    ['a BigInt', { a: { b: 1n } }, '$.a.b'],
    ['undefined in an array', [1, undefined], '$[1]'],
    ['a hole in an array', new Array(1), '$[0]'],
    ['a Date', { at: new Date(0) }, '$.at'],
    ['a Map', new Map(), '$'],
    ['an instance', new URL('https://example.org'), '$'],
    ['a cycle', cycle, '$.self[0]'],
  ])('rejects %s with its path', (_, value, path) => {
    expect(() => canonicalJson(value)).toThrow(CanonicalJsonError);
    expect(() => canonicalJson(value)).toThrow(like({ path }));
  });

  it('rejects deep nesting without a stack overflow', () => {
    expect(() => canonicalJson(deep)).toThrow('nested too deeply');
  });
});

describe('properties', () => {
  const json = fc.jsonValue({ maxDepth: 4 });

  it('parses back to the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        // JSON itself writes -0 as 0.
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(plain);
      }),
    );
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (members) => {
        const entries = Object.entries(members);
        expect(canonicalJson(Object.fromEntries(entries.toReversed()))).toBe(
          canonicalJson(Object.fromEntries(entries)),
        );
      }),
    );
  });

  it('is a fixed point', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('formats every finite double in the shortest form that round-trips', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = canonicalJson(number);
        expect(Number(text)).toBe(number === 0 ? 0 : number);
        expect(text.length).toBeLessThanOrEqual(number.toPrecision(17).length + 6);
      }),
    );
  });
});
