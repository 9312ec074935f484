import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BareItem, type Item, parseDictionary, parseItemList } from './structured-fields.js';

/** An item as `value;key=value`, for short expectations. */
const plain = ({ value, params }: Item): unknown[] => [
  value.type,
  value.value,
  Object.fromEntries([...params].map(([key, param]) => [key, param.value])),
];
const list = (text: string): unknown => parseItemList(text)?.map(plain);

describe('parseItemList', () => {
  it.each<[string, unknown]>([
    ['', []],
    ['   ', []],
    ['"default";r=50;t=30', [['string', 'default', { r: 50, t: 30 }]]],
    [
      '"burst";q=100;w=60,"daily";q=1000;w=86400',
      [
        ['string', 'burst', { q: 100, w: 60 }],
        ['string', 'daily', { q: 1000, w: 86_400 }],
      ],
    ],
    [
      '"peruser";q=65535;qu="content-bytes";w=10;pk=:sdfjLJUOUH==:',
      [['string', 'peruser', { q: 65_535, qu: 'content-bytes', w: 10, pk: 'sdfjLJUOUH==' }]],
    ],
    ['"a";r=1; t=2;  x', [['string', 'a', { r: 1, t: 2, x: true }]]],
    [
      '"a" \t,\t "b"  ',
      [
        ['string', 'a', {}],
        ['string', 'b', {}],
      ],
    ],
    ['"a";r=1;r=2', [['string', 'a', { r: 2 }]]],
    ['"a, b;r=9"', [['string', 'a, b;r=9', {}]]],
    [String.raw`"quote \" and \\"`, [['string', String.raw`quote " and \ `.trim(), {}]]],
    ['""', [['string', '', {}]]],
    ['foo123/456:x', [['token', 'foo123/456:x', {}]]],
    ['*tok', [['token', '*tok', {}]]],
    [
      '42, -42, -0, 0042',
      [
        ['integer', 42, {}],
        ['integer', -42, {}],
        ['integer', 0, {}],
        ['integer', 42, {}],
      ],
    ],
    ['999999999999999', [['integer', 999_999_999_999_999, {}]]],
    [
      '4.5, -0.001, 123456789012.123',
      [
        ['decimal', 4.5, {}],
        ['decimal', -0.001, {}],
        ['decimal', 123_456_789_012.123, {}],
      ],
    ],
    [
      '?1, ?0',
      [
        ['boolean', true, {}],
        ['boolean', false, {}],
      ],
    ],
    [
      '::, :cHJldGVuZA==:',
      [
        ['bytes', '', {}],
        ['bytes', 'cHJldGVuZA==', {}],
      ],
    ],
    ['@1659578233', [['date', 1_659_578_233, {}]]],
    ['%"f%c3%bc"', [['display', 'f%c3%bc', {}]]],
    ['a;*k.1-_=?0', [['token', 'a', { '*k.1-_': false }]]],
  ])('reads %j', (text, expected) => {
    expect(list(text)).toEqual(expected);
  });

  it.each([
    ',',
    '"a",',
    '"a",,"b"',
    '"a" "b"',
    '\t"a"',
    '"a', // unterminated
    '"a\\n"', // only \" and \\ are escapes
    '"tab\there"',
    '"\u00fc"',
    '"\u007f"',
    "'a'",
    '(1 2)', // an inner list: valid elsewhere, not in the fields we read
    '"a";',
    '"a";R=1',
    '"a";1=1',
    '"a";r=',
    '"a";r =1',
    '"a" ;r=1',
    '"a";r= 1',
    '1.',
    '.5',
    '1.2345',
    '1234567890123.1',
    '1000000000000000',
    '--1',
    '+1',
    '1e3',
    '0x10',
    '-',
    '?2',
    '?',
    '?true',
    ':cHJldGVuZA==',
    ':a b:',
    ':=a:',
    ':a===:',
    '@1.5',
    '@',
    '%"f%C3"',
    '%"f%c"',
    '%f',
    '#',
    'limit=100, remaining=50',
    '"a"\u00a0',
  ])('rejects %j', (text) => {
    expect(parseItemList(text)).toBeUndefined();
  });

  it('rejects very long fields', () => {
    expect(parseItemList(`"${'a'.repeat(2046)}"`)).toHaveLength(1);
    expect(parseItemList(`"${'a'.repeat(2047)}"`)).toBeUndefined();
  });

  const string = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', ',', ';', '=', '~') });
  const integer = fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 });
  const bare: fc.Arbitrary<BareItem> = fc.oneof(
    string.map((value) => ({ type: 'string' as const, value })),
    integer.map((value) => ({ type: 'integer' as const, value: value + 0 })),
    fc.boolean().map((value) => ({ type: 'boolean' as const, value })),
    fc.constantFrom('a', '*', 'T/1:x').map((value) => ({ type: 'token' as const, value })),
  );
  const write = (item: BareItem): string => {
    if (item.type === 'string') return `"${item.value.replaceAll(/["\\]/g, '\\$&')}"`;
    if (item.type === 'boolean') return item.value ? '?1' : '?0';
    return String(item.value);
  };

  it('parses the output of a serializer', () => {
    const item = fc.record({
      value: bare,
      params: fc.dictionary(fc.constantFrom('r', 't', 'pk', '*x-1.'), bare),
    });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 6 }), (items) => {
        const text = items
          .map(({ value, params }) =>
            [write(value), ...Object.entries(params).map(([k, v]) => `${k}=${write(v)}`)].join(';'),
          )
          .join(', ');
        const read = parseItemList(text)?.map(({ value, params }) => ({
          value,
          params: Object.fromEntries(params),
        }));
        expect(read).toEqual(items.map(({ value, params }) => ({ value, params: { ...params } })));
      }),
      { numRuns: 200 },
    );
  });
});

describe('parseDictionary', () => {
  it('reads the members of draft -07', () => {
    const members = parseDictionary('limit=100, remaining=50;x=1, reset=30, flag');
    expect([...(members ?? [])].map(([key, item]) => [key, ...plain(item)])).toEqual([
      ['limit', 'integer', 100, {}],
      ['remaining', 'integer', 50, { x: 1 }],
      ['reset', 'integer', 30, {}],
      ['flag', 'boolean', true, {}],
    ]);
  });

  it.each(['limit=', 'Limit=1', 'limit=100 remaining=50', 'limit=100,', '=1', 'a=1;', 'a=(1)'])(
    'refuses %j',
    (text) => {
      expect(parseDictionary(text)).toBeUndefined();
    },
  );
});
