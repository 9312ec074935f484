import type { Route } from '../server/upstream.js';
import type { Scope } from './auth/tokens.js';
import type { Handler } from './api/call.js';
import { createPost } from './api/create-post.js';
import {
  bookmark,
  deletePost,
  follow,
  hideReply,
  like,
  repost,
  unbookmark,
  unfollow,
  unlike,
  unrepost,
} from './api/engage.js';
import * as lists from './api/lists.js';
import * as media from './api/media.js';
import * as ownLists from './api/lists.js';
import { PERIOD } from './api/input.js';
import { likingUsers, post, posts, reposters, usage } from './api/lookups.js';
import { PAGING } from './api/replies.js';
import { search } from './api/timelines.js';
import * as timelines from './api/timelines.js';
import * as users from './api/lookups.js';
import type { LimitedRoute } from './limits.js';
import { shapeParameters } from './present/shape.js';

/** What a route asks of whoever comes: any token, a user's, one of OAuth 2.0 alone, or an app's. */
export type Entry = 'any' | 'user' | 'oauth2' | 'app';

export interface ApiRoute {
  readonly name: LimitedRoute;
  readonly method: Route['method'];
  readonly path: string;
  readonly entry: Entry;
  readonly scopes: readonly Scope[];
  readonly query: readonly string[];
  readonly handle: Handler;
  /** Only by contract. */
  readonly enterprise?: true;
}

const { post: POST, user: USER, list: LIST } = shapeParameters;
const READ: readonly Scope[] = ['tweet.read', 'users.read'];
const WRITE: readonly Scope[] = ['tweet.read', 'tweet.write', 'users.read'];

type Rest = readonly [
  scopes: readonly Scope[],
  query: readonly string[],
  handle: Handler,
  enterprise?: true,
];

const row =
  (method: Route['method']) =>
  (name: LimitedRoute, path: string, entry: Entry, ...rest: Rest): ApiRoute => {
    const [scopes, query, handle, enterprise] = rest;
    return { name, method, path, entry, scopes, query, handle, ...(enterprise && { enterprise }) };
  };

const [get, create, put, remove] = [row('GET'), row('POST'), row('PUT'), row('DELETE')];

const userRoutes: readonly ApiRoute[] = [
  // Before the one by id, which would take `me` and `by` for one.
  get('me', '/2/users/me', 'user', READ, USER, users.me),
  get(
    'users-by-usernames',
    '/2/users/by',
    'any',
    READ,
    ['usernames', ...USER],
    users.usersByUsernames,
  ),
  get(
    'user-by-username',
    '/2/users/by/username/:username',
    'any',
    READ,
    USER,
    users.userByUsername,
  ),
  get('users', '/2/users', 'any', READ, ['ids', ...USER], users.users),
  get('user', '/2/users/:id', 'any', READ, USER, users.user),
  get(
    'followers',
    '/2/users/:id/followers',
    'any',
    [...READ, 'follows.read'],
    [...PAGING, ...USER],
    users.followers,
  ),
  get(
    'following',
    '/2/users/:id/following',
    'any',
    [...READ, 'follows.read'],
    [...PAGING, ...USER],
    users.following,
  ),
];

const TIMELINE = [...PAGING, ...PERIOD, ...POST];

const postRoutes: readonly ApiRoute[] = [
  get(
    'search',
    '/2/tweets/search/recent',
    'any',
    READ,
    ['query', 'next_token', 'sort_order', ...TIMELINE],
    search,
  ),
  get('posts', '/2/tweets', 'any', READ, ['ids', ...POST], posts),
  get('post', '/2/tweets/:id', 'any', READ, POST, post),
  get(
    'liking-users',
    '/2/tweets/:id/liking_users',
    'user',
    [...READ, 'like.read'],
    [...PAGING, ...USER],
    likingUsers,
  ),
  get('reposters', '/2/tweets/:id/retweeted_by', 'any', READ, [...PAGING, ...USER], reposters),
  get('reposts', '/2/tweets/:id/retweets', 'any', READ, [...PAGING, ...POST], timelines.reposts),
  get(
    'quotes',
    '/2/tweets/:id/quote_tweets',
    'any',
    READ,
    [...PAGING, 'exclude', ...POST],
    timelines.quotes,
  ),
  get(
    'user-posts',
    '/2/users/:id/tweets',
    'any',
    READ,
    ['exclude', ...TIMELINE],
    timelines.userPosts,
  ),
  get('mentions', '/2/users/:id/mentions', 'any', READ, TIMELINE, timelines.mentions),
  get(
    'home',
    '/2/users/:id/timelines/reverse_chronological',
    'user',
    READ,
    ['exclude', ...TIMELINE],
    timelines.home,
  ),
  get(
    'liked-posts',
    '/2/users/:id/liked_tweets',
    'user',
    [...READ, 'like.read'],
    [...PAGING, ...POST],
    timelines.likedPosts,
  ),
  get(
    'bookmarks',
    '/2/users/:id/bookmarks',
    'oauth2',
    [...READ, 'bookmark.read'],
    [...PAGING, ...POST],
    timelines.bookmarks,
  ),
  get('usage', '/2/usage/tweets', 'app', [], ['days', 'usage.fields'], usage),
  create('create-post', '/2/tweets', 'user', WRITE, [], createPost),
  remove('delete-post', '/2/tweets/:id', 'user', WRITE, [], deletePost),
  put(
    'hide-reply',
    '/2/tweets/:id/hidden',
    'user',
    [...READ, 'tweet.moderate.write'],
    [],
    hideReply,
  ),
];

const engageRoutes: readonly ApiRoute[] = [
  create('like', '/2/users/:id/likes', 'user', [...READ, 'like.write'], [], like, true),
  remove(
    'unlike',
    '/2/users/:id/likes/:tweet_id',
    'user',
    [...READ, 'like.write'],
    [],
    unlike,
    true,
  ),
  create('follow', '/2/users/:id/following', 'user', [...READ, 'follows.write'], [], follow, true),
  remove(
    'unfollow',
    '/2/users/:id/following/:target',
    'user',
    [...READ, 'follows.write'],
    [],
    unfollow,
  ),
  create('repost', '/2/users/:id/retweets', 'user', WRITE, [], repost),
  remove('unrepost', '/2/users/:id/retweets/:tweet_id', 'user', WRITE, [], unrepost),
  create('bookmark', '/2/users/:id/bookmarks', 'oauth2', [...READ, 'bookmark.write'], [], bookmark),
  remove(
    'unbookmark',
    '/2/users/:id/bookmarks/:tweet_id',
    'oauth2',
    [...READ, 'bookmark.write'],
    [],
    unbookmark,
  ),
];

const READ_LIST: readonly Scope[] = [...READ, 'list.read'];
const WRITE_LIST: readonly Scope[] = [...READ_LIST, 'list.write'];

const listRoutes: readonly ApiRoute[] = [
  get('list', '/2/lists/:id', 'any', READ_LIST, LIST, lists.list),
  get('list-posts', '/2/lists/:id/tweets', 'any', READ_LIST, [...PAGING, ...POST], lists.listPosts),
  get(
    'list-members',
    '/2/lists/:id/members',
    'any',
    READ_LIST,
    [...PAGING, ...USER],
    lists.listMembers,
  ),
  get(
    'owned-lists',
    '/2/users/:id/owned_lists',
    'any',
    READ_LIST,
    [...PAGING, ...LIST],
    lists.ownedLists,
  ),
  get(
    'list-memberships',
    '/2/users/:id/list_memberships',
    'any',
    READ_LIST,
    [...PAGING, ...LIST],
    lists.listMemberships,
  ),
  get(
    'followed-lists',
    '/2/users/:id/followed_lists',
    'any',
    READ_LIST,
    [...PAGING, ...LIST],
    lists.followedLists,
  ),
  get('pinned-lists', '/2/users/:id/pinned_lists', 'user', READ_LIST, LIST, lists.pinnedLists),
  create('create-list', '/2/lists', 'user', WRITE_LIST, [], ownLists.createList),
  put('update-list', '/2/lists/:id', 'user', WRITE_LIST, [], ownLists.updateList),
  remove('delete-list', '/2/lists/:id', 'user', WRITE_LIST, [], ownLists.deleteList),
  create('add-list-member', '/2/lists/:id/members', 'user', WRITE_LIST, [], ownLists.addMember),
  remove(
    'remove-list-member',
    '/2/lists/:id/members/:user',
    'user',
    WRITE_LIST,
    [],
    ownLists.removeMember,
  ),
];

const MEDIA: readonly Scope[] = ['media.write'];

const mediaRoutes: readonly ApiRoute[] = [
  create('media-upload', '/2/media/upload', 'user', MEDIA, [], media.upload),
  get('media-status', '/2/media/upload', 'user', MEDIA, ['command', 'media_id'], media.status),
  create('media-initialize', '/2/media/upload/initialize', 'user', MEDIA, [], media.initialize),
  create('media-append', '/2/media/upload/:id/append', 'user', MEDIA, [], media.append),
  create('media-finalize', '/2/media/upload/:id/finalize', 'user', MEDIA, [], media.finalize),
  create('media-metadata', '/2/media/metadata', 'user', MEDIA, [], media.metadata),
];

/** The API, by the names that faults, latencies, limits and the log use. */
export const apiRoutes: readonly ApiRoute[] = [
  ...userRoutes,
  ...postRoutes,
  ...engageRoutes,
  ...listRoutes,
  ...mediaRoutes,
];
