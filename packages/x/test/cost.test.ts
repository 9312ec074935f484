import type { XSandbox } from '@toolkeel/sandbox';
import { expect, it } from 'vitest';
import { PATIENCE_MS } from './support/closing.js';
import { useSandbox } from './support/rig.js';
import { useStage } from './support/stage.js';

const stage = useStage();

const sandboxWorld = useSandbox();

/** Calls of every tool with a cost; reads with the largest page. */
function callsOf(x: XSandbox, ours: unknown): Readonly<Record<string, readonly object[]>> {
  const { me, friendId, strangerId, mentionId, unaskedPostId, popularPostId, listId } = x.landmarks;
  return {
    get_tweet_by_id: [{ tweet_id: mentionId }, { tweet_id: popularPostId }],
    x_search_tweets: [{ query: 'the', max_results: 20 }],
    find_reply_opportunities: [{ query: 'the' }, { query: 'the', max_results: 40 }],
    x_get_me: [{}],
    x_get_user_by_username: [{ username: me.username }],
    x_get_user_by_id: [{ user_id: friendId }],
    x_get_users_by_ids: [{ user_ids: [friendId, strangerId] }],
    x_get_user_tweets: [{ user_id: friendId }, { user_id: me.id, max_results: 20 }],
    x_get_user_mentions: [{}, { user_id: friendId }],
    x_get_home_timeline: [{}],
    x_get_followers: [{ user_id: friendId }, { user_id: me.id }],
    x_get_following: [{ user_id: friendId }],
    x_get_liked_tweets: [{ user_id: me.id }, { user_id: friendId }],
    x_get_tweet_liking_users: [{ tweet_id: popularPostId }],
    x_get_bookmarks: [{}],
    x_get_list_tweets: [{ list_id: listId }],
    x_get_list_members: [{ list_id: listId }],
    x_post_tweet: [{ text: 'a' }, { text: 'a example.com' }],
    x_reply_to_tweet: [
      { text: 'a', in_reply_to_id: mentionId },
      { text: 'a example.com', in_reply_to_id: mentionId },
    ],
    x_quote_tweet: [{ text: 'a', quoted_tweet_id: mentionId }],
    x_post_thread: [{ tweets: ['a', 'b', 'c example.com'] }],
    x_like_tweet: [{ tweet_id: unaskedPostId }],
    x_unlike_tweet: [{ tweet_id: unaskedPostId }],
    x_follow_user: [{ target_user_id: strangerId }],
    x_unfollow_user: [{ target_user_id: strangerId }],
    x_retweet: [{ tweet_id: unaskedPostId }],
    x_unretweet: [{ tweet_id: unaskedPostId }],
    x_bookmark_tweet: [{ tweet_id: unaskedPostId }],
    x_unbookmark_tweet: [{ tweet_id: unaskedPostId }],
    x_delete_tweet: [{ tweet_id: ours }],
  };
}

it('no call costs more than its estimate, and a mutation costs exactly that', async () => {
  const { rig, sandbox } = await sandboxWorld({ tier: 'enterprise', duplicateWindowMs: 0 });
  const { id: ours } = await rig.data('x_post_tweet', { text: 'ours' });
  // The user id is requested once per process.
  await rig.data('x_get_bookmarks');
  const calls = callsOf(sandbox, ours);
  const priced = rig.instance.tools.filter(({ estimateCost }) => estimateCost !== undefined);
  expect(Object.keys(calls).toSorted()).toEqual(priced.map(({ name }) => name).toSorted());
  for (const { name, input, mutation, estimateCost } of priced) {
    for (const args of calls[name] ?? []) {
      const said = estimateCost?.(input.parse(args))?.amount ?? 0;
      const before = sandbox.balance().spent;
      await rig.data(name, args);
      const cost = Math.round((sandbox.balance().spent - before) * 1e6) / 1e6;
      expect({ name, args, cost, isWithin: cost <= said }).toMatchObject({ isWithin: true });
      // Parts of a thread are replies, which may be cheaper.
      if (mutation && name !== 'x_post_thread')
        expect({ name, cost }).toEqual({ name, cost: said });
    }
  }
});

it(
  'rules can go by the cost, and it is told in dry runs and in the audit',
  async () => {
    const dear = {
      name: 'dear',
      when: { tool: 'x_*', cost: { gt: 0.1, unit: 'USD' } },
      action: 'dry_run',
    } as const;
    const { x, server } = await stage({}, { rules: { rules: [dear] } });
    expect(await server.call('x_post_tweet', { text: 'see example.com' })).toMatchObject({
      error: {
        code: 'dry_run',
        details: { rule: 'dear', would_send: { cost: { amount: 0.2, unit: 'USD' } } },
      },
    });
    expect(x.commits()).toEqual([]);
    await server.call('x_post_thread', { tweets: ['one', 'two', 'three'] });
    const sends = (await server.store.auditRows(1, 100)).filter(({ kind }) => kind === 'send');
    // The cost of the whole thread, charged with its first part.
    expect(sends.map(({ detail }) => (JSON.parse(detail) as { cost?: unknown }).cost)).toEqual([
      { amount: 0.045, unit: 'USD' },
      undefined,
      undefined,
    ]);
  },
  PATIENCE_MS,
);
