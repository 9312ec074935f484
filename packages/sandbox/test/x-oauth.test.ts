import { createHash, randomBytes } from 'node:crypto';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { XSandbox, XSandboxOptions } from '@toolkeel/sandbox';
import { askX, closeXSandboxesAfterEach, get, send, xSandbox } from './support/x.js';

closeXSandboxesAfterEach();

const REDIRECT = 'http://127.0.0.1:7411/callback';
const SCOPE = 'tweet.read tweet.write users.read offline.access';

type Fields = Readonly<Record<string, string>>;

async function form(url: string, fields: Fields, headers: Fields = {}) {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(fields).toString();
  const answer = await request(url, { method: 'POST', headers: { ...type, ...headers }, body });
  return { status: answer.statusCode, json: (await answer.body.json()) as Fields };
}

const verifier = randomBytes(32).toString('base64url');

/** Opens the consent page and returns its redirect. */
async function sendRequest(x: XSandbox, changes: Fields = {}) {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: x.credentials.clientId,
    redirect_uri: REDIRECT,
    scope: SCOPE,
    state: 'over there',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  });
  const answer = await request(`${x.authorizeUrl}?${query.toString()}`);
  await answer.body.dump();
  const location = String(answer.headers['location'] ?? '');
  return {
    status: answer.statusCode,
    back: location === '' ? undefined : new URL(location),
  };
}

async function redeem(x: XSandbox, changes: Fields = {}, headers: Fields = {}) {
  const { back } = await sendRequest(x);
  const code = back?.searchParams.get('code') ?? '';
  const fields = {
    grant_type: 'authorization_code',
    client_id: x.credentials.clientId,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    code,
    ...changes,
  };
  return { ...(await form(x.tokenUrl, fields, headers)), code };
}

const refresh = (x: XSandbox, token: string, headers: Fields = {}) =>
  form(
    x.tokenUrl,
    { grant_type: 'refresh_token', client_id: x.credentials.clientId, refresh_token: token },
    headers,
  );

describe('an OAuth login', () => {
  test('leads from the consent page to valid tokens', async () => {
    const x = await xSandbox();
    const { status, back } = await sendRequest(x);
    expect([status, back?.origin, back?.pathname]).toEqual([
      302,
      'http://127.0.0.1:7411',
      '/callback',
    ]);
    expect(back?.searchParams.get('state')).toBe('over there');
    const { status: told, json } = await redeem(x);
    expect([told, json]).toEqual([
      200,
      {
        token_type: 'bearer',
        expires_in: 7200,
        access_token: expect.any(String),
        scope: SCOPE,
        refresh_token: expect.any(String),
      },
    ]);
    const me = await get(x, '/2/users/me', json['access_token']);
    expect(me.json.data?.id).toBe(x.landmarks.me.id);
    expect(x.commits()).toMatchObject([
      { kind: 'token.issued', grant: 'authorization_code', account: x.landmarks.me.id },
    ]);
  });

  test('can be denied by the user', async () => {
    const x = await xSandbox({ faults: [{ kind: 'x-consent-denied' }] });
    const { back } = await sendRequest(x);
    expect(back?.searchParams.get('error')).toBe('access_denied');
    expect(back?.searchParams.has('code')).toBe(false);
    expect(x.counts().byFault).toEqual({ 'x-consent-denied': 1 });
  });

  test.for([
    { response_type: 'token' },
    { client_id: 'another' },
    { redirect_uri: 'https://example.com/callback' },
    { scope: 'everything' },
    { state: '' },
    { state: 'a'.repeat(501) },
    { code_challenge: '' },
    { code_challenge_method: 'S1' },
  ])('is not started with %j', async (changes) => {
    const x = await xSandbox();
    expect(await sendRequest(x, changes as Fields)).toEqual({ status: 400, back: undefined });
  });

  test.for([
    [{ code: 'guessed' }, 'authorization code was invalid'],
    [{ redirect_uri: `${REDIRECT}/` }, 'redirect uri did not match'],
    [{ code_verifier: 'another' }, 'code verifier did not match the code challenge'],
    [{ code_verifier: '' }, 'Missing required parameter [code_verifier]'],
    [{ client_id: 'another' }, 'client_id was invalid'],
    [{ grant_type: 'password' }, 'grant_type was invalid'],
  ] as const)('is not completed with %j', async ([changes, why]) => {
    const x = await xSandbox();
    const { status, json } = await redeem(x, changes);
    expect([status, json['error_description']]).toEqual([400, expect.stringContaining(why)]);
    expect(x.commits()).toEqual([]);
  });

  test('has a code that is valid once, for thirty seconds', async () => {
    const x = await xSandbox();
    const { code } = await redeem(x);
    expect((await redeem(x, { code })).status).toBe(400);
    const { back } = await sendRequest(x);
    x.clock.advance(30_000);
    const late = await redeem(x, { code: back?.searchParams.get('code') ?? '' });
    expect(late.status).toBe(400);
  });

  test('returns no refresh token without offline.access', async () => {
    const x = await xSandbox();
    const { back } = await sendRequest(x, { scope: 'tweet.read users.read' });
    const { json } = await redeem(x, { code: back?.searchParams.get('code') ?? '' });
    expect(json).not.toHaveProperty('refresh_token');
    expect(
      (
        await askX(x, '/2/tweets', {
          method: 'POST',
          body: { text: 'Not allowed' },
          token: json['access_token'] ?? '',
        })
      ).status,
    ).toBe(403);
  });
});

describe('a refresh', () => {
  test('returns a new pair, and invalidates the old refresh token', async () => {
    const x = await xSandbox();
    const { refreshToken } = x.credentials;
    const first = await refresh(x, refreshToken);
    expect(first.status).toBe(200);
    expect(first.json['refresh_token']).not.toBe(refreshToken);
    expect((await get(x, '/2/users/me', first.json['access_token'])).status).toBe(200);
    const again = await refresh(x, refreshToken);
    expect([again.status, again.json]).toEqual([
      400,
      {
        error: 'invalid_grant',
        error_description: 'Value passed for the token was invalid.',
      },
    ]);
    expect((await refresh(x, first.json['refresh_token'] ?? '')).status).toBe(200);
    expect(x.commits({ kind: 'token.issued' })).toHaveLength(2);
  });

  test('succeeds for one of many concurrent requests', async () => {
    const x = await xSandbox();
    const { refreshToken } = x.credentials;
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(x, refreshToken)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('is lost if its response is lost', async () => {
    const x = await xSandbox({
      faults: [{ kind: 'reset-after-read', routes: ['token'], times: 1 }],
    });
    await expect(refresh(x, x.credentials.refreshToken)).rejects.toThrow();
    expect(x.commits({ kind: 'token.issued' })).toHaveLength(1);
    expect((await refresh(x, x.credentials.refreshToken)).status).toBe(400);
  });

  test('can be rejected with the observed error', async () => {
    const x = await xSandbox({ refusedRefresh: 'invalid_request' });
    expect((await refresh(x, 'unknown')).json['error']).toBe('invalid_request');
  });

  test('fails for an expired token', async () => {
    const x = await xSandbox({ refreshTokenLifetimeSeconds: 60 });
    x.clock.advance(60_000);
    expect((await refresh(x, x.credentials.refreshToken)).status).toBe(400);
  });
});

describe('tokens', () => {
  const unauthorized = {
    title: 'Unauthorized',
    detail: 'Unauthorized',
    type: 'about:blank',
    status: 401,
  };

  test.for(['', 'made-up'])('that are unknown are rejected: "%s"', async (token) => {
    const x = await xSandbox();
    const { status, json } = await askX(x, '/2/users/me', { token });
    expect([status, json]).toEqual([401, unauthorized]);
  });

  test('expire after two hours', async () => {
    const x = await xSandbox();
    x.clock.advance(7_199_000);
    expect((await get(x, '/2/users/me')).status).toBe(200);
    x.clock.advance(1000);
    expect((await get(x, '/2/users/me')).json).toEqual(unauthorized);
    expect((await refresh(x, x.credentials.refreshToken)).status).toBe(200);
  });

  test('of an app can read, but not act for a user', async () => {
    const x = await xSandbox();
    const { bearerToken: token } = x.credentials;
    expect((await get(x, `/2/tweets/${x.landmarks.popularPostId}`, token)).status).toBe(200);
    const me = await get(x, '/2/users/me', token);
    expect(me.status).toBe(403);
    expect(me.json).toEqual({
      title: 'Unsupported Authentication',
      detail:
        'Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context].',
      type: 'https://api.twitter.com/2/problems/unsupported-authentication',
      status: 403,
    });
    const write = await askX(x, '/2/tweets', { method: 'POST', body: { text: 'a' }, token });
    expect(write.status).toBe(403);
    expect(x.commits()).toEqual([]);
  });

  test('report their access level', async () => {
    const x = await xSandbox();
    const { accessToken: reading } = x.issueTokens({ scopes: ['tweet.read', 'users.read'] });
    const levels = await Promise.all(
      [x.credentials.accessToken, reading].map((token) => get(x, '/2/users/me', token)),
    );
    expect(levels.map(({ headers }) => headers['x-access-level'])).toEqual(['read-write', 'read']);
    expect((await get(x, `/2/users/${x.landmarks.me.id}/bookmarks`, reading)).status).toBe(403);
  });

  test('of another user act for that user', async () => {
    const x = await xSandbox();
    const { accessToken: token } = x.issueTokens({ userId: x.landmarks.friendId });
    await askX(x, '/2/tweets', { method: 'POST', body: { text: 'By a friend' }, token });
    await send(x, '/2/tweets', { text: 'By a friend' });
    expect(x.commits().map(({ account }) => account)).toEqual([
      x.landmarks.friendId,
      x.landmarks.me.id,
    ]);
  });
});

describe('a confidential client', () => {
  const options: XSandboxOptions = { clientId: 'app', clientSecret: 'a:b/c' };
  const basic = (text: string): Fields => ({
    authorization: `Basic ${Buffer.from(text).toString('base64')}`,
  });
  const right = basic(`app:${encodeURIComponent('a:b/c')}`);

  test('must send its secret', async () => {
    const x = await xSandbox(options);
    const { refreshToken } = x.credentials;
    for (const headers of [{}, basic('app:wrong'), { authorization: 'Bearer app' }]) {
      const { status, json } = await refresh(x, refreshToken, headers);
      expect([status, json['error']]).toEqual([401, 'unauthorized_client']);
    }
    expect((await refresh(x, refreshToken, right)).status).toBe(200);
    expect((await redeem(x, {}, right)).status).toBe(200);
  });
});
