import { describe, expect, it } from 'vitest';
import { useSandbox, useWorld } from './support/rig.js';

const sandboxWorld = useSandbox();
const { world } = useWorld();
const tier = { tier: 'enterprise' } as const;
const tweet_id = '999999999';

describe('a delete', () => {
  it('of an unknown id is not_found, with an unknown outcome after a retry', async () => {
    const { rig, sandbox } = await sandboxWorld(tier);
    sandbox.setFaults([{ kind: 'http-503', routes: ['delete-post'], times: 1 }]);
    expect(await rig.error('x_delete_tweet', { tweet_id })).toMatchObject({
      code: 'not_found',
      outcome: 'unknown',
      retryable: false,
      details: { id: tweet_id },
    });
    expect(await rig.error('x_delete_tweet', { tweet_id })).toMatchObject({
      code: 'not_found',
      outcome: 'not_executed',
    });
    expect(sandbox.commits()).toEqual([]);
  });
});

describe('a success that changed nothing', () => {
  it.each([
    ['x_delete_tweet', { tweet_id }, { deleted: false }],
    ['x_unlike_tweet', { tweet_id }, { liked: true }],
    ['x_unretweet', { tweet_id }, { retweeted: true }],
    ['x_unbookmark_tweet', { tweet_id }, { bookmarked: true }],
    ['x_unfollow_user', { target_user_id: tweet_id }, { following: true }],
    ['x_like_tweet', { tweet_id }, { liked: false }],
    ['x_retweet', { tweet_id }, { retweeted: false }],
    ['x_bookmark_tweet', { tweet_id }, { bookmarked: false }],
    ['x_follow_user', { target_user_id: tweet_id }, { following: false, pending_follow: false }],
  ])('%s fails', async (tool, args, data) => {
    const { rig } = await world(
      ({ path }) => ({ json: { data: path.endsWith('/me') ? { id: '1', username: 'me' } : data } }),
      tier,
    );
    expect(await rig.error(tool, args)).toMatchObject({
      code: 'upstream_rejected',
      outcome: 'not_executed',
      details: { reason: 'not_done' },
    });
  });
});

describe('a response about another item', () => {
  it.each([
    ['get_tweet_by_id', { tweet_id: '9' }, { text: 'a' }],
    ['x_get_user_by_id', { user_id: '9' }, { username: 'a', name: 'a' }],
    ['x_get_list', { list_id: '9' }, { name: 'a' }],
  ])('fails %s', async (tool, args, data) => {
    const { rig } = await world((_, count) => ({
      json: { data: { ...data, id: `${8 + count}` } },
    }));
    expect(await rig.data(tool, args)).toBeDefined();
    expect(await rig.code(tool, args)).toBe('x_api_error');
  });
});

describe('errors in a success', () => {
  const failure = {
    type: 'https://api.x.com/2/problems/internal-error',
    title: 'Internal Error',
    detail: 'It broke.',
  };

  it('of the server are retried and reported as such', async () => {
    const { rig, server } = await world(() => ({ json: { errors: [failure] } }));
    expect(await rig.error('get_tweet_by_id', { tweet_id })).toMatchObject({
      code: 'x_api_error',
      retryable: true,
    });
    expect(server.requests.length).toBeGreaterThan(1);
  });

  it('are returned beside the created post', async () => {
    const { rig } = await world(() => ({
      status: 201,
      json: { data: { id: '7', text: 'a' }, errors: [failure] },
    }));
    const partial_errors = [{ reason: 'internal-error', message: 'It broke.' }];
    expect(await rig.data('x_post_tweet', { text: 'a' })).toEqual({
      id: '7',
      text: 'a',
      partial_errors,
    });
    expect(await rig.data('x_post_thread', { tweets: ['a'] })).toMatchObject({
      tweets: [{ id: '7', partial_errors }],
    });
  });

  const refusal = {
    type: 'https://api.twitter.com/2/problems/not-authorized-for-resource',
    title: 'Forbidden',
    detail: 'Not yours.',
  };
  const acts = [
    ['x_like_tweet', { tweet_id }, { liked: true }],
    ['x_unlike_tweet', { tweet_id }, { liked: false }],
    ['x_retweet', { tweet_id }, { retweeted: true }],
    ['x_unretweet', { tweet_id }, { retweeted: false }],
    ['x_bookmark_tweet', { tweet_id }, { bookmarked: true }],
    ['x_unbookmark_tweet', { tweet_id }, { bookmarked: false }],
    ['x_follow_user', { target_user_id: tweet_id }, { following: true, pending_follow: false }],
    ['x_unfollow_user', { target_user_id: tweet_id }, { following: false }],
    ['x_delete_tweet', { tweet_id }, { deleted: true }],
  ] as const;
  const answering = (json: object) =>
    world(
      ({ path }) => ({
        json: path.endsWith('/me') ? { data: { id: '1', username: 'me' } } : json,
      }),
      tier,
    );

  it.each(acts)('explain the rejection of %s', async (tool, args) => {
    const { rig } = await answering({ errors: [refusal] });
    expect(await rig.error(tool, args)).toMatchObject({
      code: 'x_forbidden',
      outcome: 'not_executed',
      message: expect.stringContaining('Not yours.') as string,
    });
  });

  it.each(acts)('are returned beside the result of %s', async (tool, args, data) => {
    const { rig } = await answering({ data, errors: [refusal] });
    expect(await rig.data(tool, args)).toMatchObject({
      ...data,
      partial_errors: [{ reason: 'not-authorized-for-resource', message: 'Not yours.' }],
    });
  });

  it('are cut to keep the result', async () => {
    const errors = Array.from({ length: 100 }, () => ({ ...refusal, detail: '語'.repeat(500) }));
    const { rig } = await answering({ data: { liked: true }, errors });
    expect(await rig.data('x_like_tweet', { tweet_id })).toMatchObject({ liked: true });
  });

  it.each([
    [refusal, 'x_forbidden', /Not yours\./],
    [failure, 'x_api_error', /X failed/],
  ])('explain a missing post with an unknown outcome', async (problem, cause_code, why) => {
    const { rig, server } = await world(
      ({ method }) => ({
        json: method === 'POST' ? { errors: [problem] } : { meta: { result_count: 0 } },
      }),
      { ...tier, toolTimeoutSecs: 2 },
    );
    expect(await rig.error('x_post_tweet', { text: 'a' })).toMatchObject({
      code: 'outcome_unknown',
      outcome: 'unknown',
      message: expect.stringMatching(why) as string,
      details: { cause_code },
    });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});
