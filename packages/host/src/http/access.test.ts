import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccess } from './access.js';

const local = createAccess({ host: '127.0.0.1' });
const statusOf = (access: typeof local, headers: Record<string, string>) =>
  access.check(new Headers(headers))?.status;

describe('on a loopback address', () => {
  it.each([
    'localhost',
    'localhost:7411',
    '127.0.0.1:1',
    '127.8.9.1',
    '[::1]',
    '[::1]:7411',
    'LOCALHOST',
  ])('accepts the host %s', (host) => {
    expect(statusOf(local, { host })).toBeUndefined();
    expect(statusOf(local, { host, origin: `http://${host}` })).toBeUndefined();
  });

  it.each([
    '',
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    'a b',
  ])('rejects the host "%s"', (host) => {
    expect(statusOf(local, { host })).toBe(403);
  });

  it('checks host and origin again after a request that was accepted', () => {
    const headers = { host: 'localhost', origin: 'http://localhost' };
    expect(statusOf(local, headers)).toBeUndefined();
    expect(statusOf(local, headers)).toBeUndefined();
    expect(statusOf(local, { ...headers, origin: 'http://evil.example' })).toBe(403);
    expect(statusOf(local, { ...headers, host: 'evil.example' })).toBe(403);
    expect(statusOf(local, headers)).toBeUndefined();
    expect(statusOf(local, { host: 'evil.example' })).toBe(403);
  });

  it('accepts the configured hosts and origins', () => {
    const access = createAccess({
      host: '127.0.0.1',
      allowedHosts: ['Tools.Example'],
      allowedOrigins: ['page.example'],
    });
    expect(
      statusOf(access, { host: 'tools.example', origin: 'https://page.example' }),
    ).toBeUndefined();
    expect(statusOf(access, { host: 'tools.example', origin: 'https://tools.example' })).toBe(403);
  });

  it('rejects every other domain', () => {
    fc.assert(fc.property(fc.domain(), (host) => statusOf(local, { host }) === 403));
  });
});

describe('with a token', () => {
  const access = createAccess({ host: '0.0.0.0', token: () => 'right-token' });

  it('accepts the token with any host', () => {
    expect(
      statusOf(access, { host: 'any.example', authorization: 'Bearer right-token' }),
    ).toBeUndefined();
    expect(
      statusOf(access, { host: 'any.example', authorization: 'bearer  right-token ' }),
    ).toBeUndefined();
    expect(access.checkOrigin(new Headers({ host: 'any.example' }))).toBeUndefined();
  });

  it('rejects everything else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (given) => {
        const headers = {
          get: (name: string) => (name === 'host' ? 'x' : name === 'authorization' ? given : null),
        };
        const isRight = /^Bearer +right-token *$/i.test(given);
        return (access.check(headers)?.status === 401) === !isRight;
      }),
    );
    expect(statusOf(access, { host: 'x' })).toBe(401);
    expect(statusOf(access, { host: 'x', authorization: 'Bearer right-token2' })).toBe(401);
  });

  it('checks the host if hosts are configured', () => {
    const strict = createAccess({
      host: '0.0.0.0',
      allowedHosts: ['tools.example'],
      token: () => 't',
    });
    expect(statusOf(strict, { host: 'other.example', authorization: 'Bearer t' })).toBe(403);
  });
});
