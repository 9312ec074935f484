import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stillClock } from '../clock.fixture.js';
import { verifies, type Authorization } from './oauth.js';
import { createTokens } from './tokens.js';

const options = { seed: 1, clientId: 'app', accessLifetimeMs: 1000, refreshLifetimeMs: 10_000 };

describe('refresh tokens', () => {
  test('are valid once', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 40 }), (picks) => {
        const tokens = createTokens(stillClock(), options);
        const given = [tokens.issue({ userId: '7' }).refreshToken ?? ''];
        const used = new Set<string>();
        for (const pick of picks) {
          const token = given[pick % given.length] ?? '';
          const issued = tokens.refresh(token);
          expect(issued === undefined).toBe(used.has(token));
          used.add(token);
          if (issued?.refreshToken !== undefined) given.push(issued.refreshToken);
        }
        expect(new Set(given).size).toBe(given.length);
      }),
    );
  });

  test('expire, and so do access tokens', () => {
    const clock = stillClock();
    const tokens = createTokens(clock, options);
    const { accessToken, refreshToken = '' } = tokens.issue({ userId: '7' });
    clock.advance(999);
    expect(tokens.callerOf(accessToken)).toMatchObject({ kind: 'user', userId: '7' });
    clock.advance(1);
    expect(tokens.callerOf(accessToken)).toBeUndefined();
    clock.advance(9000);
    expect(tokens.refresh(refreshToken)).toBeUndefined();
  });

  test('are determined by the seed', () => {
    const first = (seed: number) =>
      createTokens(stillClock(), { ...options, seed }).issue({ userId: '7' });
    expect(first(1)).toEqual(first(1));
    expect(first(1).accessToken).not.toBe(first(2).accessToken);
  });
});

test('a verifier matches its challenge', () => {
  const authorization = (challenge: string): Authorization => ({
    clientId: 'app',
    redirectUri: '',
    userId: '7',
    scopes: [],
    challenge,
  });
  // The example of RFC 7636.
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  expect(verifies(verifier, authorization(challenge))).toBe(true);
  expect(verifies(challenge, authorization(challenge))).toBe(false);
});
