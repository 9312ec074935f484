import type { Method } from '@toolkeel/pack-kit';
import type { ReadName } from './provider.js';

/** An endpoint of X. X counts rate limits per endpoint. */
export interface Route {
  /** As X's documentation of rate limits names it. */
  readonly name: string;
  readonly method: Method;
  /** `user`: requires a user login. */
  readonly auth: 'any' | 'user';
  /** OAuth scopes that the endpoint requires. */
  readonly scopes: readonly string[];
}

const READ = ['tweet.read', 'users.read'];

const route = (
  name: string,
  scopes: readonly string[] = READ,
  auth: Route['auth'] = 'any',
): Route => {
  const method = name.split(' ')[0] as Method;
  return Object.freeze({ name, method, auth, scopes });
};
const userRoute = (name: string, ...scopes: readonly string[]): Route =>
  route(name, [...READ, ...scopes], 'user');

/** The endpoints that read, by the method of `SocialReadProvider` that calls them. */
export const readRoutes = Object.freeze({
  getPost: route('GET /2/tweets/:id'),
  searchPosts: route('GET /2/tweets/search/recent'),
  getMe: userRoute('GET /2/users/me'),
  getUserByUsername: route('GET /2/users/by/username/:username'),
  getUserById: route('GET /2/users/:id'),
  getUsersByIds: route('GET /2/users'),
  getUserPosts: route('GET /2/users/:id/tweets'),
  getUserMentions: route('GET /2/users/:id/mentions'),
  getHomeTimeline: userRoute('GET /2/users/:id/timelines/reverse_chronological'),
  getFollowers: route('GET /2/users/:id/followers', [...READ, 'follows.read']),
  getFollowing: route('GET /2/users/:id/following', [...READ, 'follows.read']),
  getLikedPosts: userRoute('GET /2/users/:id/liked_tweets', 'like.read'),
  getLikingUsers: userRoute('GET /2/tweets/:id/liking_users', 'like.read'),
  getBookmarks: userRoute('GET /2/users/:id/bookmarks', 'bookmark.read'),
  getList: route('GET /2/lists/:id', [...READ, 'list.read']),
  getListPosts: route('GET /2/lists/:id/tweets', [...READ, 'list.read']),
  getListMembers: route('GET /2/lists/:id/members', [...READ, 'list.read']),
  getOwnedLists: route('GET /2/users/:id/owned_lists', [...READ, 'list.read']),
  getListMemberships: route('GET /2/users/:id/list_memberships', [...READ, 'list.read']),
} satisfies Record<ReadName, Route>);

/** All endpoints that this pack calls. */
export const routes = Object.freeze({
  ...readRoutes,

  createPost: userRoute('POST /2/tweets', 'tweet.write'),
  deletePost: userRoute('DELETE /2/tweets/:id', 'tweet.write'),
  like: userRoute('POST /2/users/:id/likes', 'like.write'),
  unlike: userRoute('DELETE /2/users/:id/likes/:tweet_id', 'like.write'),
  follow: userRoute('POST /2/users/:id/following', 'follows.write'),
  unfollow: userRoute('DELETE /2/users/:source_user_id/following/:target_user_id', 'follows.write'),
  repost: userRoute('POST /2/users/:id/retweets', 'tweet.write'),
  unrepost: userRoute('DELETE /2/users/:id/retweets/:source_tweet_id', 'tweet.write'),
  bookmark: userRoute('POST /2/users/:id/bookmarks', 'bookmark.write'),
  unbookmark: userRoute('DELETE /2/users/:id/bookmarks/:tweet_id', 'bookmark.write'),
  uploadInitialize: route('POST /2/media/upload/initialize', ['media.write'], 'user'),
  uploadAppend: route('POST /2/media/upload/:id/append', ['media.write'], 'user'),
  uploadFinalize: route('POST /2/media/upload/:id/finalize', ['media.write'], 'user'),
  uploadStatus: route('GET /2/media/upload', ['media.write'], 'user'),
  mediaMetadata: route('POST /2/media/metadata', ['media.write'], 'user'),
});

type RouteName = keyof typeof routes;

/** The endpoints of the tools of the workflow profile. Most only need to know the account. */
const workflowRoutes: Readonly<Record<string, readonly RouteName[]>> = {
  find_reply_opportunities: ['getMe', 'searchPosts'],
  ...Object.fromEntries(
    [
      'compose_tweet',
      'update_draft',
      'cancel_draft',
      'list_drafts',
      'x_post_tweet_dry_run',
      'x_post_thread_dry_run',
      'x_undo',
      'list_pending_approvals',
      'get_pending_count',
      'get_action_log',
      'get_recent_mutations',
      'get_stats',
      'get_discovery_feed',
      'list_unreplied_tweets',
      'list_target_accounts',
      'get_author_context',
      'recommend_engagement_action',
      'topic_performance_snapshot',
      'suggest_topics',
      'draft_replies_for_candidates',
      'propose_and_queue_replies',
    ].map((tool) => [tool, ['getMe'] as const]),
  ),
};

/** Tools that other profiles do not have. */
export const workflowOnly: ReadonlySet<string> = new Set(Object.keys(workflowRoutes));

/** The endpoints that each tool calls, which determine the scopes that it requires. */
export const toolRoutes: Readonly<Record<string, readonly RouteName[]>> = Object.freeze({
  get_tweet_by_id: ['getPost'],
  x_search_tweets: ['searchPosts'],
  x_get_me: ['getMe'],
  x_get_user_by_username: ['getUserByUsername'],
  x_get_user_by_id: ['getUserById'],
  x_get_users_by_ids: ['getUsersByIds'],
  x_get_user_tweets: ['getUserPosts'],
  x_get_user_mentions: ['getUserMentions'],
  x_get_home_timeline: ['getMe', 'getHomeTimeline'],
  x_get_followers: ['getFollowers'],
  x_get_following: ['getFollowing'],
  x_get_liked_tweets: ['getLikedPosts'],
  x_get_tweet_liking_users: ['getLikingUsers'],
  x_get_bookmarks: ['getMe', 'getBookmarks'],
  x_get_list: ['getList'],
  x_get_list_tweets: ['getListPosts'],
  x_get_list_members: ['getListMembers'],
  x_get_owned_lists: ['getOwnedLists'],
  x_get_list_memberships: ['getListMemberships'],
  x_post_tweet: ['getMe', 'createPost'],
  x_reply_to_tweet: ['getMe', 'createPost'],
  x_quote_tweet: ['getMe', 'createPost'],
  x_post_thread: ['getMe', 'createPost'],
  x_delete_tweet: ['getMe', 'deletePost'],
  x_like_tweet: ['getMe', 'like'],
  x_unlike_tweet: ['getMe', 'unlike'],
  x_follow_user: ['getMe', 'follow'],
  x_unfollow_user: ['getMe', 'unfollow'],
  x_retweet: ['getMe', 'repost'],
  x_unretweet: ['getMe', 'unrepost'],
  x_bookmark_tweet: ['getMe', 'bookmark'],
  x_unbookmark_tweet: ['getMe', 'unbookmark'],
  x_upload_media: ['getMe', 'uploadInitialize', 'uploadAppend', 'uploadFinalize', 'uploadStatus'],
  ...workflowRoutes,
});
