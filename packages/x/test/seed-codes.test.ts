import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frozenCodes } from '@toolkeel/contract';
import type { XSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { x as pack } from '../src/index.js';
import { mp4 } from '../src/media/files.fixture.js';
import { argumentsOf } from './support/arguments.js';
import { PATIENCE_MS } from './support/closing.js';
import { type Answer, loginTo, useGoverned } from './support/governed.js';
import { useStage } from './support/stage.js';

const stage = useStage();
const { start } = useGoverned();

/** The requests except GET /2/users/me. */
const askedOf = (x: XSandbox) => x.log().filter(({ route }) => route !== 'me');

/** Produces each code by a realistic cause. */
const causes: Partial<Record<keyof typeof frozenCodes, () => Promise<Answer>>> = {
  // X's own limit, unknown to a new server.
  x_rate_limited: async () => {
    const { server, another } = await stage(
      {},
      { sandbox: { limits: { 'create-post': { user: 1 } } } },
    );
    await server.call('x_post_tweet', { text: 'the only one' });
    const answer = await (await another()).call('x_post_tweet', { text: 'one too many' });
    expect(answer).toMatchObject({
      error: { outcome: 'not_executed', retry_after_ms: expect.any(Number) as number },
    });
    return answer;
  },

  // An expired token that cannot be renewed.
  x_auth_expired: async () => {
    const { x, server } = await stage();
    x.clock.advance(7_200_000);
    const answer = await server.call('x_post_tweet', { text: 'too late' });
    expect(answer).toMatchObject({ error: { outcome: 'not_executed' } });
    return answer;
  },

  x_forbidden: async () => {
    const { x, server } = await stage({}, { sandbox: { tier: 'self_serve' } });
    const args = { text: 'hello', in_reply_to_id: x.landmarks.unaskedPostId };
    const answer = await server.call('x_reply_to_tweet', args);
    expect(answer).toMatchObject({ error: { details: { reason: 'reply_not_allowed' } } });
    return answer;
  },

  x_account_restricted: async () => {
    const { x, server } = await stage();
    x.setFaults([{ kind: 'x-403-suspended' }]);
    return server.call('x_post_tweet', { text: 'am I still here?' });
  },

  x_network_error: async () => {
    const { x, server } = await stage();
    await x.setReachable(false);
    const answer = await server.call('x_get_user_by_username', { username: 'anybody' });
    expect(answer.meta.retry_count).toBe(2);
    return answer;
  },

  x_not_configured: async () => {
    const { x, folder } = await stage();
    const { config } = loginTo(x);
    const server = await start({ folder, config: { ...config, accessToken: undefined } });
    const needy = pack
      .describe()
      .filter(
        ({ requires, profiles }) => requires.includes('x_client') && profiles.includes('api'),
      );
    const answers = await Promise.all(
      needy.map(({ name }) => server.call(name, argumentsOf[name])),
    );
    for (const answer of answers) {
      expect(answer).toMatchObject({ error: { code: 'x_not_configured' } });
    }
    expect(x.log()).toEqual([]);
    return answers[0]!;
  },

  x_api_error: async () => {
    const { x, server } = await stage();
    x.setFaults([{ kind: 'http-500' }]);
    const answer = await server.call('x_get_me');
    expect(answer.meta.retry_count).toBe(2);
    return answer;
  },

  // The journal was removed: no mutation is sent, and reads work.
  db_error: async () => {
    const { x, server, folder } = await stage();
    await server.call('x_post_tweet', { text: 'written down' });
    const files = await readdir(folder);
    for (const name of files.filter((one) => one.startsWith('journal.db'))) {
      await rm(join(folder, name));
    }
    const answer = await server.call('x_post_tweet', { text: 'nowhere to write' });
    expect(answer).toMatchObject({ error: { outcome: 'not_executed' } });
    expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    expect(await server.call('x_get_me')).toMatchObject({ success: true });
    return answer;
  },

  validation_error: async () => {
    const { x, server } = await stage();
    expect(await server.call('x_post_tweet', { txt: 'a' })).toMatchObject({
      error: { code: 'validation_error', message: expect.stringContaining('txt') as string },
    });
    const answer = await server.call('x_post_tweet', { text: 5 });
    expect(answer).toMatchObject({ error: { message: expect.stringContaining('text') as string } });
    expect(x.log()).toEqual([]);
    return answer;
  },

  invalid_input: async () => {
    const { x, server } = await stage();
    const args = { user_id: '1', pagination_token: 'of somebody else' };
    expect(await server.call('x_get_followers', args)).toMatchObject({
      error: { code: 'invalid_input' },
    });
    const answer = await server.call('x_post_thread', { tweets: ['one', ' '] });
    expect(answer).toMatchObject({ error: { details: { field: 'tweets[1]' } } });
    expect(askedOf(x)).toEqual([]);
    return answer;
  },

  tweet_too_long: async () => {
    const { x, server } = await stage();
    const answer = await server.call('x_post_tweet', { text: '語'.repeat(141) });
    expect(answer).toMatchObject({ error: { details: { weighted_length: 282, limit: 280 } } });
    expect(askedOf(x)).toEqual([]);
    return answer;
  },

  unsupported_media_type: async () => {
    const { server, folder } = await stage();
    await writeFile(join(folder, 'letter.png'), 'Dear X');
    return server.call('x_upload_media', { file_path: 'letter.png' });
  },

  file_read_error: async () => {
    const { server } = await stage();
    expect(await server.call('x_upload_media', { file_path: '/etc/passwd' })).toMatchObject({
      error: { code: 'file_read_error' },
    });
    return server.call('x_upload_media', { file_path: 'missing.png' });
  },

  media_upload_error: async () => {
    const sandbox = { mediaProcessingMs: 20, mediaCheckAfterSeconds: 0 };
    const { x, server, folder } = await stage({}, { sandbox });
    await writeFile(join(folder, 'film.mp4'), mp4(500));
    x.setFaults([{ kind: 'x-media-fails' }]);
    const answer = await server.call('x_upload_media', { file_path: 'film.mp4' });
    expect(answer).toMatchObject({ error: { details: { stage: 'processing' } } });
    return answer;
  },

  // A rate limit in the middle of a thread.
  thread_partial_failure: async () => {
    const { x, server } = await stage({}, { sandbox: { limits: { 'create-post': { user: 2 } } } });
    const answer = await server.call('x_post_thread', { tweets: ['one', 'two', 'three'] });
    const ids = x.commits({ kind: 'post.created' }).map((commit) => 'id' in commit && commit.id);
    expect(answer).toMatchObject({
      data: {
        posted: ids.map((id, index) => ({ index, id })),
        failed: { index: 2, code: 'x_rate_limited' },
        unposted: 1,
      },
      error: { retry_after_ms: expect.any(Number) as number },
    });
    return answer;
  },

  not_found: async () => {
    const { x, server } = await stage();
    const answer = await server.call('get_tweet_by_id', { tweet_id: x.landmarks.deletedPostId });
    expect(answer.meta.retry_count).toBe(0);
    return answer;
  },
};

const CATEGORIES = ['X API', 'Database', 'Validation', 'Media', 'Thread', 'Resource'];

describe('codes of the original contract, through a running server', () => {
  it.each(Object.entries(causes))(
    '%s',
    async (code, cause) => {
      const answer = await cause();
      expect(answer).toMatchObject({
        success: false,
        error: { code, retryable: frozenCodes[code as keyof typeof frozenCodes].retryable },
      });
    },
    PATIENCE_MS,
  );

  it('cover all of their categories', () => {
    expect(Object.keys(causes).toSorted()).toEqual(
      Object.entries(frozenCodes)
        .filter(([, { category }]) => CATEGORIES.includes(category))
        .map(([code]) => code)
        .toSorted(),
    );
  });
});
