import { describe, expect, it } from 'vitest';
import { created, useSandbox } from './support/rig.js';

const sandboxWorld = useSandbox();

describe('mutations of the sandbox', () => {
  it('posts, replies, quotes and deletes', async () => {
    const { rig, sandbox } = await sandboxWorld({ tier: 'enterprise' });
    const { mentionId, unaskedPostId } = sandbox.landmarks;
    const posted = await rig.data('x_post_tweet', { text: 'a < b & https://example.com' });
    const reply = await rig.data('x_reply_to_tweet', { text: 'yes', in_reply_to_id: mentionId });
    const quote = await rig.data('x_quote_tweet', { text: 'so', quoted_tweet_id: unaskedPostId });
    expect(created(sandbox)).toMatchObject([
      { id: posted['id'], text: 'a < b & https://example.com' },
      { id: reply['id'], text: 'yes', reply_to: mentionId },
      { id: quote['id'], text: 'so', quote_of: unaskedPostId },
    ]);
    expect(await rig.data('x_delete_tweet', { tweet_id: posted['id'] })).toEqual({
      id: posted['id'],
      deleted: true,
    });
    expect(await rig.code('get_tweet_by_id', { tweet_id: posted['id'] })).toBe('not_found');
    expect(await rig.code('x_delete_tweet', { tweet_id: '1' })).toBe('not_found');
  });

  it('posts threads, each tweet in reply to the one before', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const data = await rig.data('x_post_thread', { tweets: ['one', 'two', 'three'] });
    const [one, two, three] = created(sandbox);
    expect(data['root_id']).toBe(one?.id);
    expect(two).toMatchObject({ text: 'two', reply_to: one?.id });
    expect(three).toMatchObject({ text: 'three', reply_to: two?.id });
  });

  it.each([
    ['x_like_tweet', 'x_unlike_tweet', 'liked', 'like'],
    ['x_retweet', 'x_unretweet', 'retweeted', 'repost'],
    ['x_bookmark_tweet', 'x_unbookmark_tweet', 'bookmarked', 'bookmark'],
  ])('%s and %s', async (act, undo, flag, kind) => {
    const { rig, sandbox } = await sandboxWorld({ tier: 'enterprise' });
    const args = { tweet_id: sandbox.landmarks.unaskedPostId };
    await rig.data(undo, args);
    const before = sandbox.commits().length;
    expect(await rig.data(act, args)).toEqual({ ...args, [flag]: true });
    expect(await rig.data(act, args)).toEqual({ ...args, [flag]: true });
    expect(await rig.data(undo, args)).toEqual({ ...args, [flag]: false });
    expect(sandbox.commits({ after: before }).map((commit) => commit.kind)).toEqual([
      `${kind}.created`,
      `${kind}.deleted`,
    ]);
  });

  it('follows accounts, and reports pending requests', async () => {
    const { rig, sandbox } = await sandboxWorld({ tier: 'enterprise' });
    const { strangerId: id, protectedId } = sandbox.landmarks;
    const followed = { target_user_id: id, following: true, pending_follow: false };
    expect(await rig.data('x_follow_user', { target_user_id: id })).toEqual(followed);
    expect(await rig.data('x_unfollow_user', { target_user_id: id })).toMatchObject({
      following: false,
    });
    expect(await rig.data('x_follow_user', { target_user_id: protectedId })).toMatchObject({
      following: false,
      pending_follow: true,
    });
  });

  it.each([
    ['x_like_tweet', { tweet_id: '1' }],
    ['x_unlike_tweet', { tweet_id: '1' }],
    ['x_follow_user', { target_user_id: '1' }],
    ['x_quote_tweet', { text: 'a', quoted_tweet_id: '1' }],
  ])('%s is rejected without a request outside its tier', async (tool, args) => {
    const { rig, sandbox } = await sandboxWorld();
    expect(await rig.error(tool, args)).toMatchObject({
      code: 'x_forbidden',
      outcome: 'not_executed',
      details: { reason: 'tier' },
    });
    expect(sandbox.log()).toEqual([]);
  });

  it('does not send a post that is too long, with any tool', async () => {
    const { rig, sandbox } = await sandboxWorld({ tier: 'enterprise' });
    const text = '語'.repeat(141);
    const calls = [
      ['x_post_tweet', { text }],
      ['x_reply_to_tweet', { text, in_reply_to_id: '1' }],
      ['x_quote_tweet', { text, quoted_tweet_id: '1' }],
      ['x_post_thread', { tweets: ['fine', text] }],
    ] as const;
    for (const [tool, args] of calls) {
      expect(await rig.error(tool, args)).toMatchObject({
        code: 'tweet_too_long',
        outcome: 'not_executed',
        details: { weighted_length: 282, limit: 280 },
      });
    }
    expect(sandbox.log()).toEqual([]);
    const fits = `${'語'.repeat(128)} https://example.com/${'a'.repeat(200)}`;
    expect(await rig.data('x_post_tweet', { text: fits })).toBeDefined();
  });

  it('names the post that a duplicate duplicates', async () => {
    const { rig } = await sandboxWorld();
    const { id } = await rig.data('x_post_tweet', { text: 'the same & more' });
    expect(await rig.error('x_post_tweet', { text: 'the same & more' })).toMatchObject({
      code: 'upstream_rejected',
      outcome: 'not_executed',
      details: { status: 403, reason: `duplicate_content:${String(id)}` },
    });
  });

  it('reports a reply that X does not allow', async () => {
    const { rig, sandbox } = await sandboxWorld();
    const args = { text: 'hello', in_reply_to_id: sandbox.landmarks.unaskedPostId };
    expect(await rig.error('x_reply_to_tweet', args)).toMatchObject({
      code: 'x_forbidden',
      details: { status: 403, reason: 'reply_not_allowed' },
    });
  });
});

const one = 'watching $ABC today';
const two = 'watching $ABC and $DEF today';
const calls = (text: string, id: string) =>
  [
    ['x_post_tweet', { text }],
    ['x_reply_to_tweet', { text, in_reply_to_id: id }],
    ['x_post_thread', { tweets: ['first', text] }],
  ] as const;

it('a second cashtag is rejected outside the enterprise tier', async () => {
  const { rig, sandbox } = await sandboxWorld({ tier: 'self_serve' });
  for (const [tool, args] of calls(two, sandbox.landmarks.mentionId)) {
    const error = await rig.error(tool, args);
    expect(error).toMatchObject({
      code: 'x_forbidden',
      outcome: 'not_executed',
      retryable: false,
      details: { reason: 'tier' },
    });
    expect(error.message).toContain('2 cashtags');
  }
  expect(sandbox.log({ route: 'create-post' })).toEqual([]);
});

it.each([
  ['one', 'self_serve', one],
  ['two of the enterprise tier', 'enterprise', two],
] as const)('%s is sent', async (_, tier, text) => {
  const { rig, sandbox } = await sandboxWorld({ tier, duplicateWindowMs: 0 });
  const all = calls(text, sandbox.landmarks.mentionId);
  for (const [tool, args] of all) await rig.data(tool, args);
  expect(created(sandbox).filter((made) => made.text === text)).toHaveLength(all.length);
});
