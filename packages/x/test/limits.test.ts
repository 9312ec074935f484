import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ending } from './support/connect.js';
import { loginTo, useGoverned } from './support/governed.js';
import { PATIENCE_MS } from './support/patience.js';
import { useStage } from './support/stage.js';

const stage = useStage();
const { start } = useGoverned();

describe('the windows of X', () => {
  it(
    'are one for all tools that use an endpoint: what would be refused is not sent',
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
    'are learnt by every process from its first refusal',
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

  it(
    'of the app do not hold back whoever has logged in since',
    async () => {
      const { x, folder } = await stage(
        {},
        { sandbox: { limits: { 'user-by-username': { app: 1, user: 900 } } } },
      );
      const { config, env } = loginTo(x, { bearerToken: { env: 'APP' } });
      const tokenFile = join(folder, 'x.json');
      await rm(tokenFile, { force: true });
      const server = await start({
        folder,
        env,
        config: { ...config, accessToken: undefined, tokenFile },
      });
      const read = async () =>
        ending(await server.call('x_get_user_by_username', { username: x.landmarks.me.username }));
      expect([await read(), await read()]).toEqual(['ok', 'x_rate_limited']);
      const { accessToken, refreshToken } = x.issueTokens();
      const login = {
        version: 1,
        login_id: 'late',
        client_id: x.credentials.clientId,
        access_token: accessToken,
        refresh_token: refreshToken,
        obtained_at: Date.now(),
        expires_at: Date.now() + 3_600_000,
        scopes: [],
      };
      await writeFile(tokenFile, JSON.stringify(login), { mode: 0o600 });
      expect(await read()).toBe('ok');
    },
    PATIENCE_MS,
  );
});
