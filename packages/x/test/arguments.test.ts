import { fuzzTools } from '@toolkeel/pack-kit/testing';
import { describe, expect, it } from 'vitest';
import { argumentValues } from './support/arguments.js';
import { useWorld } from './support/rig.js';

const { world } = useWorld();
const answering = () => ({ status: 403, json: {} });

describe('arguments', () => {
  it('that a schema rejects never reach X; others get an envelope', async () => {
    const { rig, server: upstream } = await world(answering);
    const options = { rig, upstream, values: argumentValues };
    await expect(fuzzTools({ ...options, runs: 60 })).resolves.toBeUndefined();
  });

  it.each([
    ['x_post_tweet', { text: '' }],
    ['x_post_tweet', { text: '\n ' }],
    ['x_post_tweet', { text: 'a\uFEFFb' }],
    ['x_post_tweet', { text: 'a', media_ids: ['1', '1'] }],
    [
      'x_post_tweet',
      { text: 'a', media_ids: ['1'], poll: { options: ['a', 'b'], duration_minutes: 5 } },
    ],
    ['x_post_thread', { tweets: ['a', ''] }],
    ['x_post_thread', { tweets: ['a'], media_ids: [['1'], ['2']] }],
    ['x_search_tweets', { query: 'a', pagination_token: 'forged' }],
  ])('that make no sense are invalid_input: %s %j', async (tool, args) => {
    const { rig, server } = await world(answering);
    expect(await rig.code(tool, args)).toBe('invalid_input');
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['get_tweet_by_id', { tweet_id: 'abc' }],
    ['get_tweet_by_id', { tweet_id: 123 }],
    ['x_get_users_by_ids', { user_ids: [] }],
    ['x_get_user_by_username', { username: 'a b' }],
    ['x_post_tweet', { text: 'a', media: ['1'] }],
    ['x_post_thread', { tweets: [] }],
    ['x_search_tweets', { query: 'a', max_results: 101 }],
  ])('that are malformed are validation_error: %s %j', async (tool, args) => {
    const { rig, server } = await world(answering);
    expect(await rig.code(tool, args)).toBe('validation_error');
    expect(server.requests).toEqual([]);
  });
});
