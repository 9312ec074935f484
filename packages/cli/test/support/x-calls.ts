import type { XSandbox } from '@toolkeel/sandbox';
import { expect } from 'vitest';

/** The upstream's landmarks, and the results of previous calls. */
interface CallInput {
  readonly x: XSandbox;
  readonly before: (tool: string) => Readonly<Record<string, unknown>>;
}

export interface XCall {
  readonly tool: string;
  readonly args: (input: CallInput) => Readonly<Record<string, unknown>>;
  /** The expected data. */
  readonly data: (input: CallInput) => object;
  /** The expected commits of the upstream. */
  readonly commits?: string;
}

type Args = XCall['args'];
const none: Args = () => ({});
const filled = expect.arrayContaining([
  expect.objectContaining({ id: expect.any(String) }),
]) as unknown;
const reading = (tool: string, args: Args, data: XCall['data']): XCall => ({ tool, args, data });
const list = (tool: string, args: Args, member: 'tweets' | 'users' | 'lists'): XCall =>
  reading(tool, args, () => ({ [member]: filled }));
const acting = (tool: string, commits: string, args: Args, data: XCall['data']): XCall => ({
  tool,
  args,
  data,
  commits,
});

const ofMe: Args = ({ x }) => ({ user_id: x.landmarks.me.id });
const ofList: Args = ({ x }) => ({ list_id: x.landmarks.listId });
const ofPost: Args = ({ x }) => ({ tweet_id: x.landmarks.unaskedPostId });
const ofStranger: Args = ({ x }) => ({ target_user_id: x.landmarks.strangerId });
const isMe: XCall['data'] = ({ x }) => ({ user: { id: x.landmarks.me.id } });
const mark =
  (flag: string, value: boolean): XCall['data'] =>
  ({ x }) => ({ tweet_id: x.landmarks.unaskedPostId, [flag]: value });

/** Each tool once, ordered so that earlier results are inputs of later calls. */
export const xCalls: readonly XCall[] = [
  reading('get_capabilities', none, () => ({ logged_in: true, tier: 'enterprise' })),
  reading('validate_config', none, () => ({ valid: true, findings: [] })),
  reading('get_config', none, () => ({ config: { accessToken: '[set]', tier: 'enterprise' } })),
  reading('health_check', none, () => ({ ok: true, configured: true, problem: null })),
  reading('x_get_me', none, isMe),
  reading('x_get_user_by_id', ofMe, isMe),
  reading('x_get_user_by_username', ({ x }) => ({ username: x.landmarks.me.username }), isMe),
  reading(
    'x_get_users_by_ids',
    ({ x }) => ({ user_ids: [x.landmarks.me.id, x.landmarks.friendId] }),
    ({ x }) => ({ users: [{ id: x.landmarks.me.id }, { id: x.landmarks.friendId }] }),
  ),
  reading(
    'get_tweet_by_id',
    ({ x }) => ({ tweet_id: x.landmarks.pictureId }),
    ({ x }) => ({ tweet: { id: x.landmarks.pictureId, author_id: x.landmarks.me.id } }),
  ),
  list('x_search_tweets', ({ x }) => ({ query: `from:${x.landmarks.me.username}` }), 'tweets'),
  list('x_get_user_tweets', ofMe, 'tweets'),
  list('x_get_user_mentions', ofMe, 'tweets'),
  list('x_get_home_timeline', none, 'tweets'),
  list('x_get_followers', ofMe, 'users'),
  list('x_get_following', ofMe, 'users'),
  list('x_get_liked_tweets', ofMe, 'tweets'),
  list('x_get_tweet_liking_users', ({ x }) => ({ tweet_id: x.landmarks.popularPostId }), 'users'),
  list('x_get_bookmarks', none, 'tweets'),
  reading('x_get_list', ofList, ({ x }) => ({ list: { id: x.landmarks.listId } })),
  list('x_get_list_tweets', ofList, 'tweets'),
  list('x_get_list_members', ofList, 'users'),
  list('x_get_owned_lists', ofMe, 'lists'),
  list('x_get_list_memberships', ofMe, 'lists'),
  reading('get_rate_limits', none, () => ({
    limits: expect.arrayContaining([
      expect.objectContaining({ credential: 'user', window: expect.any(String) as string }),
    ]) as unknown,
  })),
  acting(
    'x_upload_media',
    'media.initialized media.appended media.finalized media.described',
    () => ({ file_path: 'picture.png', alt_text: 'nothing' }),
    () => ({ state: 'ready', media_type: 'image/png' }),
  ),
  acting(
    'x_post_tweet',
    'post.created',
    ({ before }) => ({ text: 'out', media_ids: [before('x_upload_media')['media_id']] }),
    () => ({ id: expect.any(String) as string }),
  ),
  acting(
    'x_reply_to_tweet',
    'post.created',
    ({ x }) => ({ text: 'yes', in_reply_to_id: x.landmarks.mentionId }),
    () => ({ text: expect.stringContaining('yes') as string }),
  ),
  acting(
    'x_quote_tweet',
    'post.created',
    ({ x }) => ({ text: 'so', quoted_tweet_id: x.landmarks.unaskedPostId }),
    () => ({ text: expect.stringContaining('so') as string }),
  ),
  acting(
    'x_post_thread',
    'post.created post.created',
    () => ({ tweets: ['one', 'two'] }),
    () => ({ tweets: [{ text: 'one' }, { text: expect.stringContaining('two') as string }] }),
  ),
  acting(
    'x_delete_tweet',
    'post.deleted',
    ({ before }) => ({ tweet_id: before('x_post_tweet')['id'] }),
    () => ({ deleted: true }),
  ),
  acting('x_like_tweet', 'like.created', ofPost, mark('liked', true)),
  acting('x_unlike_tweet', 'like.deleted', ofPost, mark('liked', false)),
  acting('x_retweet', 'repost.created', ofPost, mark('retweeted', true)),
  acting('x_unretweet', 'repost.deleted', ofPost, mark('retweeted', false)),
  // The post is bookmarked initially.
  acting('x_unbookmark_tweet', 'bookmark.deleted', ofPost, mark('bookmarked', false)),
  acting('x_bookmark_tweet', 'bookmark.created', ofPost, mark('bookmarked', true)),
  acting('x_follow_user', 'follow.created', ofStranger, () => ({ following: true })),
  acting('x_unfollow_user', 'follow.deleted', ofStranger, () => ({ following: false })),
];
