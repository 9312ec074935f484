import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccess } from './access.js';

const local = createAccess({ host: '127.0.0.1' });
const refusal = (access: typeof local, headers: Record<string, string>) =>
  access.check(new Headers(headers))?.status;

describe('on this machine', () => {
  it.each([
    'localhost',
    'localhost:7411',
    '127.0.0.1:1',
    '127.8.9.1',
    '[::1]',
    '[::1]:7411',
    'LOCALHOST',
  ])('the host %s is known', (host) => {
    expect(refusal(local, { host })).toBeUndefined();
    expect(refusal(local, { host, origin: `http://${host}` })).toBeUndefined();
  });

  it.each([
    '',
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    'a b',
  ])('the host "%s" is not', (host) => {
    expect(refusal(local, { host })).toBe(403);
  });

  it('knows the names and origins that were allowed', () => {
    const access = createAccess({
      host: '127.0.0.1',
      allowedHosts: ['Tools.Example'],
      allowedOrigins: ['page.example'],
    });
    expect(
      refusal(access, { host: 'tools.example', origin: 'https://page.example' }),
    ).toBeUndefined();
    expect(refusal(access, { host: 'tools.example', origin: 'https://tools.example' })).toBe(403);
  });

  it('lets no name through that is not of this machine', () => {
    fc.assert(fc.property(fc.domain(), (host) => refusal(local, { host }) === 403));
  });
});

describe('with a token', () => {
  const access = createAccess({ host: '0.0.0.0', token: () => 'right-token' });

  it('lets in who has it, by whatever name', () => {
    expect(
      refusal(access, { host: 'any.example', authorization: 'Bearer right-token' }),
    ).toBeUndefined();
    expect(
      refusal(access, { host: 'any.example', authorization: 'bearer  right-token ' }),
    ).toBeUndefined();
    expect(access.checkOrigin(new Headers({ host: 'any.example' }))).toBeUndefined();
  });

  it('refuses everything else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (given) => {
        const headers = {
          get: (name: string) => (name === 'host' ? 'x' : name === 'authorization' ? given : null),
        };
        const isRight = /^Bearer +right-token *$/i.test(given);
        return (access.check(headers)?.status === 401) === !isRight;
      }),
    );
    expect(refusal(access, { host: 'x' })).toBe(401);
    expect(refusal(access, { host: 'x', authorization: 'Bearer right-token2' })).toBe(401);
  });

  it('checks names where they were given', () => {
    const strict = createAccess({
      host: '0.0.0.0',
      allowedHosts: ['tools.example'],
      token: () => 't',
    });
    expect(refusal(strict, { host: 'other.example', authorization: 'Bearer t' })).toBe(403);
  });
});
