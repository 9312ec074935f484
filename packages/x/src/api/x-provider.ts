import { isObject, objectOf, stringOf, type HttpClient, type JsonObject } from '@toolkeel/pack-kit';
import type { List, PartialError, Post, User } from '../model.js';
import {
  fieldQueries,
  readIncludes,
  readList,
  readPost,
  readUser,
  type FieldQueries,
  type Includes,
  type Spelling,
} from './parse.js';
import { readPartialProblems } from './problem.js';
import type {
  ById,
  ItemResult,
  PageQuery,
  PageResult,
  PostRange,
  ReadContext,
  ReadMethod,
  ReadName,
  SocialReadProvider,
} from './provider.js';
import { readRoutes } from './routes.js';
import {
  xResponseOf,
  type ApiRequest,
  type Session,
  type XRequest,
  type XResponse,
} from './session.js';
import { faultOfPartialError, partialError, unreadableResponse } from './upstream-problem.js';

/** X's own API, with one attempt per call. */
export function xProvider(
  session: Session,
  http: Pick<HttpClient<XRequest>, 'attempt'>,
  spelling: Spelling,
): SocialReadProvider {
  const fields = fieldQueries(spelling);
  const methods = Object.entries(endpoints).map(([name, endpoint]) => {
    const { resource, path, query = () => ({}), parse } = endpoint as Endpoint<unknown, unknown>;
    const read = async (given: unknown, context: ReadContext): Promise<unknown> => {
      const request: ApiRequest = {
        route: readRoutes[name as ReadName],
        path: ['2', ...path(given)],
        query: { ...fields[resource], ...query(given) },
      };
      return parse(xResponseOf(await http.attempt(session.httpRequest(request), context)), given);
    };
    return [name, read] as const;
  });
  return Object.fromEntries(methods) as unknown as SocialReadProvider;
}

type Query = NonNullable<ApiRequest['query']>;

/** How one method of the provider becomes a request, and its response a result. */
interface Endpoint<Given, Result> {
  readonly resource: keyof FieldQueries;
  readonly path: (given: Given) => readonly string[];
  readonly query?: (given: Given) => Query;
  readonly parse: (response: XResponse, given: Given) => Result;
}

interface Resource<T> {
  readonly resource: keyof FieldQueries;
  readonly read: (object: JsonObject, includes: Includes) => T | undefined;
}

const post: Resource<Post> = { resource: 'posts', read: readPost };
const user: Resource<User> = { resource: 'users', read: readUser };
const list: Resource<List> = { resource: 'lists', read: readList };

const one = <T, Given>(
  { resource, read }: Resource<T>,
  path: (given: Given) => readonly string[],
): Endpoint<Given, ItemResult<T>> => ({
  resource,
  path,
  parse: (response) => parseItem(response, read),
});

/** Rejects a response with another id than the requested one. */
const byId = <T extends ById>(
  resource: Resource<T>,
  path: string,
): Endpoint<ById, ItemResult<T>> => ({
  ...one(resource, ({ id }: ById) => [path, id]),
  parse: (response, { id }) => {
    const result = parseItem(response, resource.read);
    if (result.item.id !== id.replace(/^0+(?=.)/, '')) throw unreadableResponse();
    return result;
  },
});

const many = <T, Given>(
  { resource, read }: Resource<T>,
  path: (given: Given) => readonly string[],
  query: (given: Given) => Query = () => ({}),
): Endpoint<Given & PageQuery, PageResult<T>> => ({
  resource,
  path,
  query: (given) => ({
    ...query(given),
    max_results: given.maxResults,
    pagination_token: given.paginationToken,
  }),
  parse: (response) => parsePage(response, read),
});

const range = ({ sinceId, untilId, startTime, endTime }: PostRange): Query => ({
  since_id: sinceId,
  until_id: untilId,
  start_time: startTime,
  end_time: endTime,
});

type EndpointOf<Method> =
  Method extends ReadMethod<infer Given, infer Result> ? Endpoint<Given, Result> : never;

const endpoints: { readonly [Name in ReadName]: EndpointOf<SocialReadProvider[Name]> } = {
  getPost: byId(post, 'tweets'),
  searchPosts: many(
    post,
    () => ['tweets', 'search', 'recent'],
    (given) => ({ query: given.query, sort_order: given.sortOrder, ...range(given) }),
  ),
  getMe: one(user, () => ['users', 'me']),
  getUserByUsername: one(user, ({ username }) => ['users', 'by', 'username', username]),
  getUserById: byId(user, 'users'),
  getUsersByIds: {
    resource: 'users',
    path: () => ['users'],
    query: ({ ids }) => ({ ids: ids.join(',') }),
    // If all of them are missing, `data` is absent and `errors` has an entry for each.
    parse: (response) => parsePage({ ...response, doc: { data: [], ...response.doc } }, user.read),
  },
  getUserPosts: many(
    post,
    ({ id }) => ['users', id, 'tweets'],
    ({ exclude = [], ...given }) => ({
      ...(exclude.length > 0 && { exclude: exclude.join(',') }),
      ...range(given),
    }),
  ),
  getUserMentions: many(post, ({ id }: ById & PostRange) => ['users', id, 'mentions'], range),
  getHomeTimeline: many(
    post,
    ({ id }: ById & PostRange) => ['users', id, 'timelines', 'reverse_chronological'],
    range,
  ),
  getFollowers: many(user, ({ id }) => ['users', id, 'followers']),
  getFollowing: many(user, ({ id }) => ['users', id, 'following']),
  getLikedPosts: many(post, ({ id }) => ['users', id, 'liked_tweets']),
  getLikingUsers: many(user, ({ id }) => ['tweets', id, 'liking_users']),
  getBookmarks: many(post, ({ id }) => ['users', id, 'bookmarks']),
  getList: byId(list, 'lists'),
  getListPosts: many(post, ({ id }) => ['lists', id, 'tweets']),
  getListMembers: many(user, ({ id }) => ['lists', id, 'members']),
  getOwnedLists: many(list, ({ id }) => ['users', id, 'owned_lists']),
  getListMemberships: many(list, ({ id }) => ['users', id, 'list_memberships']),
};

/** A success without `data` has its reason in `errors`. */
function parseItem<T>({ doc, limits }: XResponse, read: Resource<T>['read']): ItemResult<T> {
  const problems = readPartialProblems(doc);
  const data = objectOf(doc['data']);
  const item = data && read(data, readIncludes(doc));
  if (item !== undefined) return { item, partialErrors: problems.map(partialError), limits };
  const [problem] = problems;
  throw problem && !data ? faultOfPartialError(problem) : unreadableResponse();
}

const TOKEN = /^[\x21-\x7e]{1,1024}$/;

/** An empty list has no `data`; a list that X cannot return has no `meta` either. */
function parsePage<T>({ doc, limits }: XResponse, read: Resource<T>['read']): PageResult<T> {
  const { data = [], meta } = doc;
  const problems = readPartialProblems(doc);
  const [problem] = problems;
  if (doc['data'] === undefined && meta === undefined && problem) {
    throw faultOfPartialError(problem);
  }
  if (!Array.isArray(data) || (meta !== undefined && !isObject(meta))) throw unreadableResponse();
  const includes = readIncludes(doc);
  const items = data
    .map((entry: unknown) => (isObject(entry) ? read(entry, includes) : undefined))
    .filter((item) => item !== undefined);
  const skipped = data.length - items.length;
  if (skipped > 0 && items.length === 0) throw unreadableResponse();
  const token = stringOf(objectOf(meta)?.['next_token']);
  return {
    items,
    nextToken: token !== undefined && TOKEN.test(token) ? token : undefined,
    partialErrors: [...problems.map(partialError), ...(skipped > 0 ? [unreadable(skipped)] : [])],
    limits,
  };
}

const unreadable = (count: number): PartialError => ({
  reason: 'unreadable',
  message: `${count} items of X's response are malformed and left out.`,
});
