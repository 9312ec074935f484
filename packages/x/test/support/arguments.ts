import { envelopeSchema, parseInput } from '@toolkeel/contract';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { World } from './rig.js';

/** Arguments with which each tool sends a request. */
export const argumentsOf: Readonly<Record<string, object>> = {
  get_tweet_by_id: { tweet_id: '1' },
  x_search_tweets: { query: 'a' },
  x_get_user_by_username: { username: 'a' },
  x_get_user_by_id: { user_id: '1' },
  x_get_users_by_ids: { user_ids: ['1'] },
  x_get_user_tweets: { user_id: '1' },
  x_get_user_mentions: { user_id: '1' },
  x_get_followers: { user_id: '1' },
  x_get_following: { user_id: '1' },
  x_get_liked_tweets: { user_id: '1' },
  x_get_tweet_liking_users: { tweet_id: '1' },
  x_get_list: { list_id: '1' },
  x_get_list_tweets: { list_id: '1' },
  x_get_list_members: { list_id: '1' },
  x_get_owned_lists: { user_id: '1' },
  x_get_list_memberships: { user_id: '1' },
  x_post_tweet: { text: 'a' },
  x_reply_to_tweet: { text: 'a', in_reply_to_id: '1' },
  x_quote_tweet: { text: 'a', quoted_tweet_id: '1' },
  x_post_thread: { tweets: ['a', 'b'] },
  x_delete_tweet: { tweet_id: '1' },
  x_like_tweet: { tweet_id: '1' },
  x_unlike_tweet: { tweet_id: '1' },
  x_follow_user: { target_user_id: '1' },
  x_unfollow_user: { target_user_id: '1' },
  x_retweet: { tweet_id: '1' },
  x_unretweet: { tweet_id: '1' },
  x_bookmark_tweet: { tweet_id: '1' },
  x_unbookmark_tweet: { tweet_id: '1' },
  x_upload_media: { file_path: 'picture.png' },
};

/** Values close to the schemas, and arbitrary ones. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '1',
    '01',
    '-1',
    '1'.repeat(20),
    1,
    0,
    1e9,
    1.5,
    [],
    ['1'],
    ['1', '1'],
    [['1']],
    [[]],
    'https://example.com',
    '../../etc/passwd',
    'a'.repeat(26_000),
    '@name',
    '2026-01-01T00:00:00Z',
    'yesterday',
    { options: ['a', 'b'], duration_minutes: 5 },
    {},
    true,
    '\uFEFF',
    '__proto__',
  ),
);

/** Calls every tool with generated arguments: rejected ones must not reach X. */
export async function fuzzArguments({ rig, server }: World, runs: number): Promise<void> {
  for (const tool of rig.instance.tools) {
    const shape = Object.keys(tool.input.shape);
    const args = fc.dictionary(fc.constantFrom(...shape, 'unknown'), value, { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const isRefused = !parseInput(tool, given).parsed.success;
        const before = server.seen.length;
        const envelope = await rig.run(tool.name, given);
        expect(envelopeSchema.safeParse(envelope).success).toBe(true);
        if (!isRefused) return;
        expect(envelope).toMatchObject({ success: false, error: { code: 'validation_error' } });
        expect(server.seen.length).toBe(before);
      }),
      { numRuns: runs },
    );
  }
}
