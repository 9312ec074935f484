import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { XSandboxOptions } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from './support/closing.js';
import { ending, loginTo, useGoverned } from './support/governed.js';
import { useWorld } from './support/rig.js';
import { useStage } from './support/stage.js';

const stage = useStage();
const { start } = useGoverned();
const { world } = useWorld();

describe('a rejection with a wait and without a window', () => {
  const inTwoMinutes = () => String(Math.ceil(Date.now() / 1000) + 120);

  it.each([
    ['Retry-After', () => ({ 'retry-after': '120' })],
    ['a reset without a count', () => ({ 'x-rate-limit-reset': inTwoMinutes() })],
  ])('is respected and listed: %s', async (_, headers) => {
    const { rig, server } = await world(() => ({ status: 429, json: {}, headers: headers() }));
    for (const tweet_id of ['5', '6']) {
      const error = await rig.error('get_tweet_by_id', { tweet_id });
      expect(error.code).toBe('x_rate_limited');
      expect(error.retry_after_ms).toBeGreaterThan(110_000);
      expect(error.retry_after_ms).toBeLessThanOrEqual(121_000);
    }
    expect(server.requests).toHaveLength(1);
    const { limits } = await rig.data('get_rate_limits');
    expect(limits).toEqual([
      {
        endpoint: 'GET /2/tweets/:id',
        credential: 'user',
        window: 'not stated',
        remaining: 0,
        reset: expect.any(String) as string,
      },
    ]);
  });

  it.each([
    ['no header', {}, undefined],
    ['Retry-After alone', { 'retry-after': '120' }, 120_000],
  ])('names no window that X did not state: %s', async (_, headers, wait) => {
    const { rig } = await world(() => ({ status: 429, json: {}, headers }));
    for (const [tool, args] of [
      ['get_tweet_by_id', { tweet_id: '5' }],
      ['x_post_tweet', { text: 'a' }],
    ] as const) {
      const error = await rig.error(tool, args);
      expect(error).toMatchObject({ code: 'x_rate_limited', details: {} });
      expect(error.details).not.toHaveProperty('scope');
      expect(error.message).not.toMatch(/15 minutes|24|user|app/i);
      if (wait !== undefined) continue;
      expect(error).not.toHaveProperty('rate_limit_reset');
      expect(error).not.toHaveProperty('retry_after_ms');
    }
  });

  it('allows a call after exactly that wait', async () => {
    const { rig, server } = await world((_, count) =>
      count === 1
        ? { status: 429, json: {}, headers: { 'retry-after': '1' } }
        : { json: { data: { id: '5', text: 'there' } } },
    );
    const { retry_after_ms: wait = 0 } = await rig.error('get_tweet_by_id', { tweet_id: '5' });
    expect(wait).toBe(1000);
    await new Promise((resolve) => setTimeout(resolve, wait + 5));
    expect(await rig.data('get_tweet_by_id', { tweet_id: '5' })).toBeDefined();
    expect(server.requests).toHaveLength(2);
  });

  it('has no reset in the past', async () => {
    const headers = { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '1700000000' };
    const { rig } = await world(() => ({ status: 429, json: {}, headers }));
    const error = await rig.error('get_tweet_by_id', { tweet_id: '5' });
    expect(error.code).toBe('x_rate_limited');
    expect(error).not.toHaveProperty('rate_limit_reset');
  });
});

describe('rate-limit windows', () => {
  it(
    'are shared by all tools of an endpoint',
    async () => {
      const { x, server } = await stage(
        {},
        { sandbox: { limits: { 'create-post': { user: 2 } } } },
      );
      const { mentionId: id } = x.landmarks;
      await server.call('x_post_tweet', { text: 'one' });
      await server.call('x_reply_to_tweet', { text: 'two', in_reply_to_id: id });
      const others = [
        ['x_post_tweet', { text: 'three' }],
        ['x_reply_to_tweet', { text: 'three', in_reply_to_id: id }],
        ['x_quote_tweet', { text: 'three', quoted_tweet_id: id }],
        ['x_post_thread', { tweets: ['three', 'four'] }],
      ] as const;
      for (const [tool, args] of others) {
        const answer = await server.call(tool, args);
        expect([tool, ending(answer)]).toEqual([tool, 'x_rate_limited not_executed']);
        expect(answer).toMatchObject({
          error: {
            retry_after_ms: expect.any(Number) as number,
            rate_limit_reset: expect.any(String) as string,
          },
        });
      }
      expect(x.log({ route: 'create-post' })).toHaveLength(2);
      // Other endpoints have windows of their own.
      expect(await server.call('x_like_tweet', { tweet_id: id })).toMatchObject({ success: true });
    },
    PATIENCE_MS,
  );

  it(
    'are learnt by every process from its first rejection',
    async () => {
      const { x, server, another } = await stage(
        {},
        { sandbox: { limits: { like: { user: 50, userDay: 1 } } } },
      );
      const { mentionId, unaskedPostId, popularPostId } = x.landmarks;
      await server.call('x_like_tweet', { tweet_id: mentionId });
      const next = await another();
      for (const tweet_id of [unaskedPostId, popularPostId]) {
        expect(await next.call('x_like_tweet', { tweet_id })).toMatchObject({
          error: { code: 'x_rate_limited', details: { scope: '24h user' } },
        });
      }
      expect(x.log({ route: 'like' })).toHaveLength(2);
    },
    PATIENCE_MS,
  );

  /** A server with an app token and a login file that does not exist yet. */
  const started = async (limits: NonNullable<XSandboxOptions['limits']>) => {
    const { x, folder } = await stage({}, { sandbox: { limits } });
    const { config, env } = loginTo(x, { bearerToken: { env: 'APP' } });
    const tokenFile = join(folder, 'x.json');
    const server = await start({
      folder,
      env,
      config: { ...config, accessToken: undefined, tokenFile },
    });
    const { username } = x.landmarks.me;
    const read = async () => ending(await server.call('x_get_user_by_username', { username }));
    const logIn = (login_id: string) => {
      const { accessToken, refreshToken } = x.issueTokens();
      const login = {
        version: 1,
        login_id,
        client_id: x.credentials.clientId,
        access_token: accessToken,
        refresh_token: refreshToken,
        obtained_at: Date.now(),
        expires_at: Date.now() + 3_600_000,
        scopes: [],
      };
      return writeFile(tokenFile, JSON.stringify(login), { mode: 0o600 });
    };
    return { x, server, read, logIn, logOut: () => rm(tokenFile) };
  };

  it(
    'of the app do not apply to a later login',
    async () => {
      const { read, logIn } = await started({ 'user-by-username': { app: 1, user: 900 } });
      expect([await read(), await read()]).toEqual(['ok', 'x_rate_limited']);
      await logIn('late');
      expect(await read()).toBe('ok');
    },
    PATIENCE_MS,
  );

  it(
    'of a login do not apply to the app',
    async () => {
      const { read, logIn, logOut } = await started({ 'user-by-username': { app: 2, user: 1 } });
      await logIn('first');
      expect([await read(), await read()]).toEqual(['ok', 'x_rate_limited']);
      await logOut();
      expect([await read(), await read(), await read()]).toEqual(['ok', 'ok', 'x_rate_limited']);
    },
    PATIENCE_MS,
  );

  it(
    'of a login do not apply to the next login, and are not listed',
    async () => {
      const { x, server, read, logIn } = await started({ 'user-by-username': { user: 1 } });
      await logIn('first');
      expect([await read(), await read()]).toEqual(['ok', 'x_rate_limited']);
      const sent = x.log({ route: 'user-by-username' }).length;
      await logIn('second');
      expect(await server.call('get_rate_limits')).toMatchObject({ data: { limits: [] } });
      // It is the same account to X, so X rejects the call, but the call is sent.
      expect([await read(), await read()]).toEqual(['x_rate_limited', 'x_rate_limited']);
      expect(x.log({ route: 'user-by-username' })).toHaveLength(sent + 1);
    },
    PATIENCE_MS,
  );
});
