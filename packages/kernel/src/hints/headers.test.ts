import { describe, expect, it } from 'vitest';
import { findHeaders, headerNames } from './headers.js';

const wanted = headerNames(['retry-after', 'ratelimit', 'x-a']);
const find = (headers: unknown): unknown => {
  const found = findHeaders(headers, wanted);
  return found && Object.fromEntries(found);
};

describe('findHeaders', () => {
  it.each<[string, unknown]>([
    ['a plain object', { 'Retry-After': '5', Other: 'x' }],
    [
      'an object without a prototype',
      Object.assign(Object.create(null) as object, { 'RETRY-AFTER': '5' }),
    ],
    ['Headers', new Headers([['Retry-After', '5']])],
    ['a Map in any case', new Map([['Retry-After', '5']])],
    ['pairs', [['Retry-After', '5']]],
    ['rawHeaders', ['Host', 'x', 'Retry-After', '5']],
    [
      'a generator of pairs',
      (function* () {
        yield ['Retry-After', '5'];
      })(),
    ],
    ['a get', { get: (name: string) => (name === 'retry-after' ? '5' : null) }],
    ['an array value', { 'retry-after': ['5'] }],
    ['a number value', { 'retry-after': 5 }],
    ['space around it', { 'retry-after': ' \t5\t ' }],
  ])('finds in %s', (_, headers) => {
    expect(find(headers)).toEqual({ 'retry-after': '5' });
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'retry-after: 5'],
    ['a function', () => '5'],
    ['nothing wanted', { 'content-type': 'x', retry: '5', 'retry-after2': '5' }],
    ['an inherited header', Object.create({ 'retry-after': '5' })],
    ['other value types', { 'retry-after': { toString: () => '5' }, ratelimit: null, 'x-a': [5] }],
    ['an empty array value', { 'retry-after': [] }],
    ['an odd rawHeaders', ['Retry-After']],
    ['a value that is too long', { 'retry-after': '5'.repeat(2049) }],
    ['numbers instead of pairs', new Uint8Array(8)],
    [
      'pairs of other things',
      [
        [5, '5'],
        [null, '5'],
        [{}, '5'],
      ],
    ],
  ])('finds nothing in %s', (_, headers) => {
    expect(find(headers)).toBeUndefined();
  });

  it('trims only space and tab', () => {
    expect(find({ 'retry-after': '\u00a05\n' })).toEqual({ 'retry-after': '\u00a05\n' });
  });

  it.each<[string, unknown]>([
    ['an array', { ratelimit: ['"a";r=1', '"b";r=2'] }],
    ['two cases of a name', { ratelimit: '"a";r=1', RateLimit: '"b";r=2' }],
    ['rawHeaders', ['RateLimit', '"a";r=1', 'ratelimit', '"b";r=2']],
    [
      'Headers',
      new Headers([
        ['ratelimit', '"a";r=1'],
        ['RateLimit', '"b";r=2'],
      ]),
    ],
    [
      'a Map',
      new Map([
        ['ratelimit', '"a";r=1'],
        ['RATELIMIT', '"b";r=2'],
      ]),
    ],
  ])('joins repeated fields of %s', (_, headers) => {
    expect(find(headers)).toEqual({ ratelimit: '"a";r=1, "b";r=2' });
  });

  it('keeps the headers found before the container throws', () => {
    const boom = (): never => {
      throw new Error('boom');
    };
    const getter = {
      'x-a': '1',
      get 'retry-after'() {
        return boom();
      },
      ratelimit: '2',
    };
    expect(find(getter)).toEqual({ 'x-a': '1', ratelimit: '2' });
    expect(find({ get: (name: string) => (name === 'x-a' ? '1' : boom()) })).toEqual({
      'x-a': '1',
    });
    expect(
      find(
        (function* () {
          yield ['x-a', '1'];
          boom();
        })(),
      ),
    ).toEqual({ 'x-a': '1' });
    expect(find(new Proxy({}, { ownKeys: boom, has: boom, get: boom }))).toBeUndefined();
    expect(find(new Proxy([], { get: boom }))).toBeUndefined();
  });

  it('stops reading an endless iterator', () => {
    const endless = (function* () {
      for (;;) yield ['x-other', '1'];
    })();
    expect(find(endless)).toBeUndefined();
  });

  it('does not read the values of other headers', () => {
    const headers = {
      get other() {
        throw new Error('read');
      },
      'x-a': '1',
    };
    expect(find(headers)).toEqual({ 'x-a': '1' });
  });
});
