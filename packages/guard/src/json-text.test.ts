import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementTexts, inexactNumbers, parseMarked, rewriteJson } from './json-text.js';

type Members = Record<string, unknown>;

/** A JSON text with numbers, escapes and layout that JavaScript would not write. */
const jsonText = fc.letrec<{ value: string; scalar: string; list: string; object: string }>(
  (tie) => {
    const space = fc.constantFrom('', ' ', '\t');
    const integer = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
    const number = fc.oneof(
      integer,
      fc.constantFrom('1.0', '-0', '1e400', '1E-400', '1e2', '0.10000000000000001', '5e-324'),
      fc.tuple(integer, fc.stringMatching(/^\d{1,25}$/)).map(([whole, part]) => `${whole}.${part}`),
    );
    const string = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.constantFrom('"\\u00e9"', '"\\/"', '"\\\\\\""', '"{\\"id\\":1}"', '"]},"', '"\\\\"'),
    );
    const key = fc.oneof(
      fc.constantFrom('"id"', '"result"', '"_meta"', '"\\u0069d"', '"__proto__"', '"1"'),
      string,
    );
    return {
      scalar: fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
      list: fc
        .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
        .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
      object: fc
        .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space)
        .map(([entries, gap]) => {
          const texts = entries.map(([name, value]) => `${name}${gap}:${gap}${value}`);
          return `{${gap}${texts.join(`${gap},${gap}`)}${gap}}`;
        }),
      value: fc.oneof({ maxDepth: 4 }, tie('scalar'), tie('list'), tie('object')),
    };
  },
).value;

/** The same JSON with every number as a text: what a reader without a loss sees. */
function lossless(text: string): unknown {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : `"number:${token}"`,
  );
  return JSON.parse(marked);
}

describe('rewriteJson', () => {
  it('changes the members of a frame that were changed, and nothing else', () => {
    fc.assert(
      fc.property(jsonText, jsonText, (one, other) => {
        const text = `{ "id" : 1.0, "params":{"name":"s_x", "arguments": {"a":${one},"\\u0062":${other}},"_meta":{"x":${one}} }, "more":[${one},${other}]}`;
        const origin = JSON.parse(text) as { params: { arguments: Members; _meta: Members } };
        const { params } = origin;
        const changed = {
          ...origin,
          id: 'new',
          params: {
            ...params,
            name: 'x',
            arguments: { ...params.arguments, key: 'k' },
            _meta: undefined,
          },
          moved: { deep: [params._meta, params.arguments] },
        };
        const before = lossless(text) as typeof origin;
        expect(lossless(rewriteJson(changed, origin, text))).toStrictEqual({
          ...before,
          id: 'new',
          params: {
            name: 'x',
            arguments: { ...before.params.arguments, key: 'k' },
          },
          moved: { deep: [before.params._meta, before.params.arguments] },
        });
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a text that was not changed, and the blocks of a list that got a further one', () => {
    fc.assert(
      fc.property(fc.array(jsonText), (items) => {
        const texts = items.map((item) => `{"block":${item}}`);
        const text = `{"content":[${texts.join(' , ')}]}`;
        const origin = JSON.parse(text) as { content: unknown[] };
        expect(rewriteJson(origin, origin, ` ${text} `)).toBe(text);
        const longer = { content: [{ type: 'text' }, ...origin.content] };
        expect(rewriteJson(longer, origin, text)).toBe(
          `{"content":[${['{"type":"text"}', ...texts].join(',')}]}`,
        );
        expect(elementTexts(`[${texts.join(' , ')}]`)).toStrictEqual(texts);
      }),
      { numRuns: 300 },
    );
  });

  it('takes the last of two members with one name, as the reader does', () => {
    const text = '{"a":{"n":1.0},"a":{"n":2.0},"b":3.0}';
    const origin = JSON.parse(text) as Members;
    expect(rewriteJson({ ...origin, c: 1 }, origin, text)).toBe('{"a":{"n":2.0},"b":3.0,"c":1}');
    expect(rewriteJson({ c: origin['a'] }, origin, text)).toBe('{"c":{"n":2.0}}');
  });

  it('passes a value that is nested deeper than the stack allows', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const text = `{"id":1,"result":{"deep":${deep}}}`;
    const origin = JSON.parse(text) as { result: Members };
    const changed = { id: 2, result: { ...origin.result, _meta: 1 } };
    expect(rewriteJson(changed, origin, text)).toBe(`{"id":2,"result":{"deep":${deep},"_meta":1}}`);
  });
});

describe('inexactNumbers', () => {
  it.each([
    ['{"arguments":{"post":[{"id":1790000000000000001}]}}', ['arguments', 'post', 'id']],
    ['[{"a":1},9007199254740993]', []],
    ['{"\\u0061":1e400}', ['a']],
    ['{"a":{"b":"x"},"c":-0.10000000000000001}', ['c']],
    ['1e-0400', []],
  ])('finds the number in %s', (text, path) => {
    expect(inexactNumbers(text).map((one) => one.path)).toStrictEqual([path]);
  });

  it.each([
    '{"a":1790000000000000000,"b":1.0,"c":-0,"d":1e2,"e":0.1,"f":1E+300,"g":0e999}',
    '{"1790000000000000001":"1790000000000000001 \\" 1790000000000000001"}',
    '[1.0000000000000000000000000,123456789012345680000,5e-324,0.30000000000000004]',
  ])('finds none in %s', (text) => {
    expect(inexactNumbers(text)).toStrictEqual([]);
  });

  it('finds one in one of two texts that read the same but hold different numbers', () => {
    const digits = fc.stringMatching(/^[1-9]\d{14,18}$/);
    const number = fc.oneof(
      digits,
      fc.tuple(digits, digits).map(([whole, part]) => `${whole}.${part}`),
      fc
        .tuple(digits, fc.integer({ min: -400, max: 400 }))
        .map(([part, power]) => `0.${part}e${power}`),
    );
    const near = fc.tuple(number, fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(near, ([one, last]) => {
        const other = one.replace(/\d(?=e|$)/, String(last));
        const texts = [`{"post":${one}}`, `{"post":${other}}`] as const;
        const [a, b] = texts.map((text) => JSON.stringify(JSON.parse(text)));
        const areDifferent = one !== other && a === b;
        const isZero = (text: string): boolean => /^[0.]*(e|$)/.test(text);
        fc.pre(areDifferent && !isZero(one));
        expect(texts.flatMap((text) => inexactNumbers(text)).length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('marks them as something that equals no number', () => {
    const text = '{"a":1790000000000000001,"b":[2]}';
    expect(parseMarked(text)).toStrictEqual({
      value: { a: 'number 1790000000000000001', b: [2] },
      isExact: false,
    });
  });
});
