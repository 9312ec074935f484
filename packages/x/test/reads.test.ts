import { describe, expect, it } from 'vitest';
import { useSandbox } from './support/rig.js';

const sandboxWorld = useSandbox();

type Items = readonly { readonly id: string }[];

describe('reading the sandbox', () => {
  it('shows tweets with their authors, links and counts', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const { landmarks } = sandbox;
    const { tweet } = await rig.data('get_tweet_by_id', { tweet_id: landmarks.pictureId });
    expect(tweet).toMatchObject({
      id: landmarks.pictureId,
      author_id: landmarks.me.id,
      author_username: landmarks.me.username,
      media: [{ type: 'photo' }, { type: 'photo', alt_text: expect.any(String) as string }],
      public_metrics: { like_count: expect.any(Number) as number },
    });
  });

  it('supports every read tool', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const { me, friendId, popularPostId, listId } = sandbox.landmarks;
    const calls: readonly (readonly [string, object, string])[] = [
      ['x_get_me', {}, 'user'],
      ['x_get_user_by_id', { user_id: friendId }, 'user'],
      ['x_get_user_by_username', { username: `@${me.username}` }, 'user'],
      ['x_get_users_by_ids', { user_ids: [me.id, friendId] }, 'users'],
      ['x_search_tweets', { query: `from:${me.username}` }, 'tweets'],
      ['x_get_user_tweets', { user_id: me.id }, 'tweets'],
      ['x_get_user_mentions', {}, 'tweets'],
      ['x_get_user_mentions', { user_id: me.id }, 'tweets'],
      ['x_get_home_timeline', {}, 'tweets'],
      ['x_get_followers', { user_id: me.id }, 'users'],
      ['x_get_following', { user_id: me.id }, 'users'],
      ['x_get_liked_tweets', { user_id: me.id }, 'tweets'],
      ['x_get_tweet_liking_users', { tweet_id: popularPostId }, 'users'],
      ['x_get_bookmarks', {}, 'tweets'],
      ['x_get_list', { list_id: listId }, 'list'],
      ['x_get_list_tweets', { list_id: listId }, 'tweets'],
      ['x_get_list_members', { list_id: listId }, 'users'],
      ['x_get_owned_lists', { user_id: me.id }, 'lists'],
      ['x_get_list_memberships', { user_id: me.id }, 'lists'],
    ];
    for (const [tool, args, member] of calls) {
      const data = await rig.data(tool, args);
      const shown = data[member];
      expect({
        tool,
        exists: Array.isArray(shown) ? shown.length > 0 : shown !== undefined,
      }).toEqual({
        tool,
        exists: true,
      });
    }
  });

  it('pages through a list without gaps or repeats', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const { me } = sandbox.landmarks;
    const all: string[] = [];
    for (let page = 0, token: string | undefined; page < 500; page++) {
      const args = {
        user_id: me.id,
        max_results: [7, 3, 20, 1][page % 4],
        pagination_token: token,
      };
      const envelope = await rig.run('x_get_user_tweets', args);
      if (!envelope.success) throw new Error(envelope.error.message);
      all.push(...(envelope.data['tweets'] as Items).map(({ id }) => id));
      token = envelope.meta.pagination?.next_token;
      if (token === undefined) break;
    }
    const whole: string[] = [];
    for (let token: string | undefined; ;) {
      const args = { user_id: me.id, max_results: 100, pagination_token: token };
      const envelope = await rig.run('x_get_user_tweets', args, { byteBudget: 10_000_000 });
      if (!envelope.success) throw new Error(envelope.error.message);
      whole.push(...(envelope.data['tweets'] as Items).map(({ id }) => id));
      token = envelope.meta.pagination?.next_token;
      if (token === undefined) break;
    }
    expect(whole.length).toBeGreaterThan(20);
    expect(all).toEqual(whole);
  });

  it('cuts an oversized response at an item, and continues there', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const { me } = sandbox.landmarks;
    const ids: string[] = [];
    let pages = 0;
    for (let token: string | undefined; ; pages++) {
      const args = { user_id: me.id, max_results: 1000, pagination_token: token };
      const envelope = await rig.run('x_get_followers', args, { byteBudget: 6_000 });
      if (!envelope.success) throw new Error(envelope.error.message);
      ids.push(...(envelope.data['users'] as Items).map(({ id }) => id));
      token = envelope.meta.pagination?.next_token;
      if (token === undefined) break;
    }
    expect(pages).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(ids.length);
    const args = { user_id: me.id, max_results: 1000 };
    const { users } = await rig.data('x_get_followers', args, { byteBudget: 10_000_000 });
    expect(ids).toEqual((users as Items).map(({ id }) => id));
  });

  it('returns partial errors beside the data', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const { me, suspendedId } = sandbox.landmarks;
    const data = await rig.data('x_get_users_by_ids', { user_ids: [me.id, suspendedId, '1'] });
    expect((data['users'] as Items).map(({ id }) => id)).toEqual([me.id]);
    expect(data['partial_errors']).toMatchObject([
      { reason: 'resource-not-found', resource_id: suspendedId },
      { reason: 'resource-not-found', resource_id: '1', resource_type: 'user' },
    ]);
    expect((await rig.data('x_get_users_by_ids', { user_ids: ['1', '2'] }))['users']).toEqual([]);
  });

  it('reports why an item is not available', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const { deletedPostId, protectedPostId, protectedId } = sandbox.landmarks;
    expect(await rig.error('get_tweet_by_id', { tweet_id: deletedPostId })).toMatchObject({
      code: 'not_found',
      retryable: false,
      details: { resource: 'tweet', id: deletedPostId },
    });
    expect(await rig.code('get_tweet_by_id', { tweet_id: protectedPostId })).toBe('x_forbidden');
    expect(await rig.code('x_get_user_tweets', { user_id: protectedId })).toBe('x_forbidden');
    expect(await rig.code('x_get_user_tweets', { user_id: '1' })).toBe('not_found');
    expect(await rig.code('x_get_user_by_username', { username: 'nobody_at_all' })).toBe(
      'not_found',
    );
  });

  it('allows only public reads with an app token', async () => {
    const { another, sandbox } = await sandboxWorld();
    const rig = await another({ accessToken: undefined, bearerToken: { env: 'APP' } });
    const { popularPostId, me } = sandbox.landmarks;
    expect(await rig.data('get_tweet_by_id', { tweet_id: popularPostId })).toBeDefined();
    sandbox.clearLog();
    const calls = [
      ['x_get_me', {}],
      ['x_get_home_timeline', {}],
      ['x_get_liked_tweets', { user_id: me.id }],
      ['x_post_tweet', { text: 'no' }],
    ] as const;
    for (const [tool, args] of calls) expect(await rig.code(tool, args)).toBe('x_not_configured');
    expect(sandbox.log()).toEqual([]);
  });

  it('returns the same with old and new field names', async () => {
    const { rig, another, sandbox } = await sandboxWorld();
    const renamed = await another({ spelling: 'post' });
    const { threadId, pictureId, orphanId, mentionId } = sandbox.landmarks;
    for (const tweet_id of [threadId, pictureId, orphanId, mentionId]) {
      const shown = await Promise.all(
        [rig, renamed].map(async (one) => {
          const { tweet } = await one.data('get_tweet_by_id', { tweet_id });
          // X counts reposts where it counted retweets.
          return { ...(tweet as object), public_metrics: undefined };
        }),
      );
      expect(shown[1]).toEqual(shown[0]);
    }
  });
});
