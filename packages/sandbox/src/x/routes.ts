import type { Route } from '../server/upstream.js';
import type { Handler } from './api/call.js';
import { createPost } from './api/create-post.js';
import * as engage from './api/engage.js';
import { PERIOD } from './api/input.js';
import * as lists from './api/lists.js';
import * as lookup from './api/lookups.js';
import * as media from './api/media.js';
import { PAGING } from './api/replies.js';
import * as timeline from './api/timelines.js';
import type { OAuthScope } from './auth/tokens.js';
import type { LimitedRoute } from './limits.js';
import { shapeParameters } from './present/shape.js';

/** The authentication that a route accepts: any, a user's, or only OAuth 2.0 of a user. */
export type AuthType = 'any' | 'user' | 'oauth2';

export interface ApiRoute {
  readonly name: LimitedRoute;
  readonly method: Route['method'];
  readonly path: string;
  readonly auth: AuthType;
  readonly scopes: readonly OAuthScope[];
  readonly query: readonly string[];
  readonly handle: Handler;
  /** Restricted to the enterprise tier. */
  readonly enterprise: boolean;
}

const row =
  (method: Route['method']) =>
  (
    name: LimitedRoute,
    path: string,
    auth: AuthType,
    scopes: readonly OAuthScope[],
    query: readonly string[],
    handle: Handler,
    enterprise = false,
  ): ApiRoute => ({ name, method, path: `/2${path}`, auth, scopes, query, handle, enterprise });

const [get, create, remove] = [row('GET'), row('POST'), row('DELETE')];

const { post: POST, user: USER, list: LIST } = shapeParameters;
const USERS = [...PAGING, ...USER];
const POSTS = [...PAGING, ...POST];
const LISTS = [...PAGING, ...LIST];
const TIMELINE = [...PAGING, ...PERIOD, ...POST];
const FILTERED = ['exclude', ...TIMELINE];
const SEARCH = ['query', 'next_token', 'sort_order', ...TIMELINE];

const reading = (...own: readonly OAuthScope[]): readonly OAuthScope[] => [
  'tweet.read',
  'users.read',
  ...own,
];
const READ = reading();
const WRITE = reading('tweet.write');
const FOLLOWS = reading('follows.read');
const FOLLOW_WRITE = reading('follows.write');
const LIKES = reading('like.read');
const LIKE_WRITE = reading('like.write');
const BOOKMARKS = reading('bookmark.read');
const BOOKMARK_WRITE = reading('bookmark.write');
const LIST_READ = reading('list.read');
const MEDIA: readonly OAuthScope[] = ['media.write'];

/** All API routes, with the names that faults, latencies, limits and the log use. */
export const apiRoutes: readonly ApiRoute[] = [
  // Before the route by id, which would match `me` and `by`.
  get('me', '/users/me', 'user', READ, USER, lookup.me),
  get('user-by-username', '/users/by/username/:username', 'any', READ, USER, lookup.userByUsername),
  get('users', '/users', 'any', READ, ['ids', ...USER], lookup.users),
  get('user', '/users/:id', 'any', READ, USER, lookup.user),
  get('followers', '/users/:id/followers', 'any', FOLLOWS, USERS, lookup.followers),
  get('following', '/users/:id/following', 'any', FOLLOWS, USERS, lookup.following),

  get('search', '/tweets/search/recent', 'any', READ, SEARCH, timeline.search),
  get('posts', '/tweets', 'any', READ, ['ids', ...POST], lookup.posts),
  get('post', '/tweets/:id', 'any', READ, POST, lookup.post),
  get('liking-users', '/tweets/:id/liking_users', 'user', LIKES, USERS, lookup.likingUsers),
  get('user-posts', '/users/:id/tweets', 'any', READ, FILTERED, timeline.userPosts),
  get('mentions', '/users/:id/mentions', 'any', READ, TIMELINE, timeline.mentions),
  get('home', '/users/:id/timelines/reverse_chronological', 'user', READ, FILTERED, timeline.home),
  get('liked-posts', '/users/:id/liked_tweets', 'user', LIKES, POSTS, timeline.likedPosts),
  get('bookmarks', '/users/:id/bookmarks', 'oauth2', BOOKMARKS, POSTS, timeline.bookmarks),
  create('create-post', '/tweets', 'user', WRITE, [], createPost),
  remove('delete-post', '/tweets/:id', 'user', WRITE, [], engage.deletePost),

  create('like', '/users/:id/likes', 'user', LIKE_WRITE, [], engage.like, true),
  remove('unlike', '/users/:id/likes/:tweet_id', 'user', LIKE_WRITE, [], engage.unlike, true),
  create('follow', '/users/:id/following', 'user', FOLLOW_WRITE, [], engage.follow, true),
  remove('unfollow', '/users/:id/following/:target', 'user', FOLLOW_WRITE, [], engage.unfollow),
  create('repost', '/users/:id/retweets', 'user', WRITE, [], engage.repost),
  remove('unrepost', '/users/:id/retweets/:tweet_id', 'user', WRITE, [], engage.unrepost),
  create('bookmark', '/users/:id/bookmarks', 'oauth2', BOOKMARK_WRITE, [], engage.bookmark),
  remove(
    'unbookmark',
    '/users/:id/bookmarks/:tweet_id',
    'oauth2',
    BOOKMARK_WRITE,
    [],
    engage.unbookmark,
  ),

  get('list', '/lists/:id', 'any', LIST_READ, LIST, lists.list),
  get('list-posts', '/lists/:id/tweets', 'any', LIST_READ, POSTS, lists.listPosts),
  get('list-members', '/lists/:id/members', 'any', LIST_READ, USERS, lists.listMembers),
  get('owned-lists', '/users/:id/owned_lists', 'any', LIST_READ, LISTS, lists.ownedLists),
  get(
    'list-memberships',
    '/users/:id/list_memberships',
    'any',
    LIST_READ,
    LISTS,
    lists.memberships,
  ),

  create('media-upload', '/media/upload', 'user', MEDIA, [], media.upload),
  get('media-status', '/media/upload', 'user', MEDIA, ['command', 'media_id'], media.status),
  create('media-initialize', '/media/upload/initialize', 'user', MEDIA, [], media.initialize),
  create('media-append', '/media/upload/:id/append', 'user', MEDIA, [], media.append),
  create('media-finalize', '/media/upload/:id/finalize', 'user', MEDIA, [], media.finalize),
  create('media-metadata', '/media/metadata', 'user', MEDIA, [], media.metadata),
];
