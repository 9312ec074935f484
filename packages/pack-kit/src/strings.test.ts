import fc from 'fast-check';
import { expect, it } from 'vitest';
import { urlUnder } from './strings.js';

it('urlUnder encodes any name as one path segment', () => {
  const base = new URL('https://a.example/v1/collections/');
  expect(urlUnder(base, 'a/b', 'items', 'x y?z#').href).toBe(
    'https://a.example/v1/collections/a%2Fb/items/x%20y%3Fz%23',
  );
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !/\p{Cs}/u.test(text)),
      (name) => {
        const url = urlUnder(base, name, 'items');
        expect(url.origin).toBe(base.origin);
        expect(url.pathname.startsWith('/v1/collections/')).toBe(true);
        expect(url.pathname.endsWith('/items')).toBe(true);
        expect(url.pathname.split('/')).toHaveLength(5);
      },
    ),
  );
});
