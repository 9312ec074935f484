import { fieldQueries, type Spelling } from '../api/fields.js';
import { readIncludes, readPost, type Includes } from '../api/read-post.js';
import { readList, readUser } from '../api/read-user.js';
import { routes } from '../api/routes.js';
import type { ApiRequest, Session } from '../api/session.js';
import type { HttpAnswer } from '../http/request.js';
import { docOf, isDoc, textOf, type Doc } from '../json.js';
import { partialError } from '../problems/partial-error.js';
import { readPartialProblems } from '../problems/problem.js';
import { faultOfMissing, unreadable } from '../problems/upstream-problem.js';
import type { PartialError } from './model.js';
import type {
  Found,
  Page,
  PageQuery,
  PostRange,
  ReadContext,
  ReadName,
  SocialReadProvider,
} from './provider.js';

type Query = NonNullable<ApiRequest['query']>;
type Reader<T> = (doc: Doc, includes: Includes) => T | undefined;

const TOKEN = /^[\x21-\x7e]{1,1024}$/;

/** X's own API, one attempt a call. */
export function xProvider(session: Session, spelling: Spelling): SocialReadProvider {
  const fields = fieldQueries(spelling);

  const ask = (name: ReadName, path: readonly string[], query: Query, context: ReadContext) =>
    session.read({ route: routes[name], path, query }, context);
  const one = async <T>(
    read: Reader<T>,
    ...[name, path, query, context]: Parameters<typeof ask>
  ): Promise<Found<T>> => found(await ask(name, path, query, context), read);
  const many = async <T>(
    read: Reader<T>,
    ...[name, path, query, context]: Parameters<typeof ask>
  ): Promise<Page<T>> => listed(await ask(name, path, query, context), read);

  const users = (...path: string[]): readonly string[] => ['2', 'users', ...path];
  const posts = (...path: string[]): readonly string[] => ['2', 'tweets', ...path];
  const lists = (...path: string[]): readonly string[] => ['2', 'lists', ...path];

  return {
    getPost: ({ id }, context) =>
      theOne(id, one(readPost, 'getPost', posts(id), fields.posts, context)),
    searchPosts: (query, context) => {
      const asked = { query: query.query, sort_order: query.sortOrder, ...range(query) };
      const all = { ...fields.posts, ...asked, ...paging(query) };
      return many(readPost, 'searchPosts', posts('search', 'recent'), all, context);
    },
    getMe: (_, context) => one(readUser, 'getMe', users('me'), fields.users, context),
    getUserByUsername: ({ username }, context) =>
      one(readUser, 'getUserByUsername', users('by', 'username', username), fields.users, context),
    getUserById: ({ id }, context) =>
      theOne(id, one(readUser, 'getUserById', users(id), fields.users, context)),
    getUsersByIds: async ({ ids }, context) => {
      const query = { ...fields.users, ids: ids.join(',') };
      const answer = await ask('getUsersByIds', users(), query, context);
      // Of several, all may be missing: each is then told apart.
      return listed({ ...answer, doc: { data: [], ...answer.doc } }, readUser);
    },
    getUserPosts: (query, context) => {
      const { exclude = [] } = query;
      const asked = { ...(exclude.length > 0 && { exclude: exclude.join(',') }), ...range(query) };
      const all = { ...fields.posts, ...asked, ...paging(query) };
      return many(readPost, 'getUserPosts', users(query.id, 'tweets'), all, context);
    },
    getUserMentions: (query, context) => {
      const all = { ...fields.posts, ...range(query), ...paging(query) };
      return many(readPost, 'getUserMentions', users(query.id, 'mentions'), all, context);
    },
    getHomeTimeline: (query, context) => {
      const path = users(query.id, 'timelines', 'reverse_chronological');
      const all = { ...fields.posts, ...range(query), ...paging(query) };
      return many(readPost, 'getHomeTimeline', path, all, context);
    },
    getFollowers: (query, context) => {
      const all = { ...fields.users, ...paging(query) };
      return many(readUser, 'getFollowers', users(query.id, 'followers'), all, context);
    },
    getFollowing: (query, context) => {
      const all = { ...fields.users, ...paging(query) };
      return many(readUser, 'getFollowing', users(query.id, 'following'), all, context);
    },
    getLikedPosts: (query, context) => {
      const all = { ...fields.posts, ...paging(query) };
      return many(readPost, 'getLikedPosts', users(query.id, 'liked_tweets'), all, context);
    },
    getLikingUsers: (query, context) => {
      const all = { ...fields.users, ...paging(query) };
      return many(readUser, 'getLikingUsers', posts(query.id, 'liking_users'), all, context);
    },
    getBookmarks: (query, context) => {
      const all = { ...fields.posts, ...paging(query) };
      return many(readPost, 'getBookmarks', users(query.id, 'bookmarks'), all, context);
    },
    getList: ({ id }, context) =>
      theOne(id, one(readList, 'getList', lists(id), fields.lists, context)),
    getListPosts: (query, context) => {
      const all = { ...fields.posts, ...paging(query) };
      return many(readPost, 'getListPosts', lists(query.id, 'tweets'), all, context);
    },
    getListMembers: (query, context) => {
      const all = { ...fields.users, ...paging(query) };
      return many(readUser, 'getListMembers', lists(query.id, 'members'), all, context);
    },
    getOwnedLists: (query, context) => {
      const all = { ...fields.lists, ...paging(query) };
      return many(readList, 'getOwnedLists', users(query.id, 'owned_lists'), all, context);
    },
    getListMemberships: (query, context) => {
      const all = { ...fields.lists, ...paging(query) };
      return many(
        readList,
        'getListMemberships',
        users(query.id, 'list_memberships'),
        all,
        context,
      );
    },
  };
}

const paging = ({ maxResults, paginationToken }: PageQuery): Query => ({
  max_results: maxResults,
  pagination_token: paginationToken,
});

const range = ({ sinceId, untilId, startTime, endTime }: PostRange): Query => ({
  since_id: sinceId,
  until_id: untilId,
  start_time: startTime,
  end_time: endTime,
});

/** Somebody else's post under the id that was asked for would be believed. */
async function theOne<T extends { readonly id: string }>(
  id: string,
  asked: Promise<Found<T>>,
): Promise<Found<T>> {
  const answer = await asked;
  if (answer.item.id !== id.replace(/^0+(?=.)/, '')) throw unreadable();
  return answer;
}

/** The one thing that was asked for. A success may hold nothing but the reason why it does not. */
function found<T>({ doc, limits }: HttpAnswer, read: Reader<T>): Found<T> {
  const problems = readPartialProblems(doc);
  const data = docOf(doc['data']);
  const item = data && read(data, readIncludes(doc));
  if (item !== undefined) return { item, partialErrors: problems.map(partialError), limits };
  const [problem] = problems;
  throw problem && !data ? faultOfMissing(problem) : unreadable();
}

/** An empty list comes without `data`; one that cannot be given, without `meta` as well. */
function listed<T>({ doc, limits }: HttpAnswer, read: Reader<T>): Page<T> {
  const { data = [], meta } = doc;
  const problems = readPartialProblems(doc);
  const [problem] = problems;
  if (doc['data'] === undefined && meta === undefined && problem) throw faultOfMissing(problem);
  if (!Array.isArray(data) || (meta !== undefined && !isDoc(meta))) throw unreadable();
  const includes = readIncludes(doc);
  const items = data
    .map((one: unknown) => (isDoc(one) ? read(one, includes) : undefined))
    .filter((item) => item !== undefined);
  const leftOut = data.length - items.length;
  if (leftOut > 0 && items.length === 0) throw unreadable();
  const token = textOf(docOf(meta)?.['next_token']);
  return {
    items,
    nextToken: token !== undefined && TOKEN.test(token) ? token : undefined,
    partialErrors: [...problems.map(partialError), ...(leftOut > 0 ? [unread(leftOut)] : [])],
    limits,
  };
}

function unread(count: number): PartialError {
  return {
    reason: 'unreadable',
    message: `What X says of ${count} of them cannot be read. They are left out.`,
  };
}
