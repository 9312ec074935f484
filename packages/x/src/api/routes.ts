import type { Method } from '../http/request.js';

/** An endpoint of X: limits are counted for each of them. */
export interface Route {
  /** As X's own list of limits calls it. */
  readonly name: string;
  readonly method: Method;
  /** `user`: only with the login of an account. */
  readonly auth: 'any' | 'user';
  /** What a login must have been allowed. */
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
const mine = (name: string, ...scopes: readonly string[]): Route =>
  route(name, [...READ, ...scopes], 'user');

/** Every endpoint that this pack calls. */
export const routes = Object.freeze({
  getPost: route('GET /2/tweets/:id'),
  searchPosts: route('GET /2/tweets/search/recent'),
  getMe: mine('GET /2/users/me'),
  getUserByUsername: route('GET /2/users/by/username/:username'),
  getUserById: route('GET /2/users/:id'),
  getUsersByIds: route('GET /2/users'),
  getUserPosts: route('GET /2/users/:id/tweets'),
  getUserMentions: route('GET /2/users/:id/mentions'),
  getHomeTimeline: mine('GET /2/users/:id/timelines/reverse_chronological'),
  getFollowers: route('GET /2/users/:id/followers', [...READ, 'follows.read']),
  getFollowing: route('GET /2/users/:id/following', [...READ, 'follows.read']),
  getLikedPosts: mine('GET /2/users/:id/liked_tweets', 'like.read'),
  getLikingUsers: mine('GET /2/tweets/:id/liking_users', 'like.read'),
  getBookmarks: mine('GET /2/users/:id/bookmarks', 'bookmark.read'),
  getList: route('GET /2/lists/:id', [...READ, 'list.read']),
  getListPosts: route('GET /2/lists/:id/tweets', [...READ, 'list.read']),
  getListMembers: route('GET /2/lists/:id/members', [...READ, 'list.read']),
  getOwnedLists: route('GET /2/users/:id/owned_lists', [...READ, 'list.read']),
  getListMemberships: route('GET /2/users/:id/list_memberships', [...READ, 'list.read']),

  createPost: mine('POST /2/tweets', 'tweet.write'),
  deletePost: mine('DELETE /2/tweets/:id', 'tweet.write'),
  like: mine('POST /2/users/:id/likes', 'like.write'),
  unlike: mine('DELETE /2/users/:id/likes/:tweet_id', 'like.write'),
  follow: mine('POST /2/users/:id/following', 'follows.write'),
  unfollow: mine('DELETE /2/users/:source_user_id/following/:target_user_id', 'follows.write'),
  repost: mine('POST /2/users/:id/retweets', 'tweet.write'),
  unrepost: mine('DELETE /2/users/:id/retweets/:source_tweet_id', 'tweet.write'),
  bookmark: mine('POST /2/users/:id/bookmarks', 'bookmark.write'),
  unbookmark: mine('DELETE /2/users/:id/bookmarks/:tweet_id', 'bookmark.write'),
  uploadInitialize: route('POST /2/media/upload/initialize', ['media.write'], 'user'),
  uploadAppend: route('POST /2/media/upload/:id/append', ['media.write'], 'user'),
  uploadFinalize: route('POST /2/media/upload/:id/finalize', ['media.write'], 'user'),
  uploadStatus: route('GET /2/media/upload', ['media.write'], 'user'),
  mediaMetadata: route('POST /2/media/metadata', ['media.write'], 'user'),
});

export type RouteName = keyof typeof routes;
