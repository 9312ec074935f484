import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretInUrl } from './secret-in-url.js';

describe('an address', () => {
  it.each([
    ['https://u:pass-word@x.example', 'a password', 'pass-word'],
    ['https://u:pass%20word@x.example', 'a password', 'pass word'],
    ['https://u:100%@x.example', 'a password', '100%'],
    ['postgres://me:pass-word@db/x', 'a password', 'pass-word'],
    ['https://tok-en@x.example/v1', 'a user name', 'tok-en'],
    ['https://x.example/v1?api_key=val', 'a secret in its query', 'val'],
    ['https://x.example/v1?a=b&subscription-key=val', 'a secret in its query', 'val'],
    ['https://x.example?access_token=val', 'a secret in its query', 'val'],
    ['https://x.example?X-Amz-Signature=val', 'a secret in its query', 'val'],
    ['https://x.example?sv=1&SIG=val', 'a secret in its query', 'val'],
    ['postgres://db/x?password=val', 'a secret in its query', 'val'],
  ])('%s holds %s', (url, what, value) => {
    const found = secretInUrl(url);
    expect(found?.what).toBe(what);
    expect(found?.values).toContain(value);
  });

  it.each([
    'https://x.example/v1?collections=a&sortkey=b&token_type=c&key=',
    'https://x.example/a@b?c=d:e@f',
    'postgres://me@db/x',
    'sqlite:journal.db',
    'memory:',
    'no address, though it says password=x',
    'https://',
  ])('%s holds none', (url) => {
    expect(secretInUrl(url)).toBeUndefined();
  });

  it('never throws, and what it finds stands there', () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl({ withQueryParameters: true, validSchemes: ['a'] }),
    );
    const part = fc.stringMatching(/^[\w%.~-]{1,12}$/);
    const withUser = fc.tuple(part, part, fc.domain()).map(([u, p, d]) => `https://${u}:${p}@${d}`);
    fc.assert(fc.property(text, (given) => void secretInUrl(given)));
    fc.assert(
      fc.property(withUser, (given) => {
        const { values = [] } = secretInUrl(given) ?? {};
        return values.some((value) => given.includes(value));
      }),
    );
  });
});
