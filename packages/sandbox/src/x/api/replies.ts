import type { JsonObject } from '../../json.js';
import { includesOf, pinnedBy } from '../present/includes.js';
import { pageOf, placeFrom, tokenOf, type Page } from '../present/page.js';
import { presentPost, withheldFields } from '../present/post.js';
import { presentUser } from '../present/user.js';
import { fieldNotAuthorized } from '../problem/partial.js';
import type { Post, User } from '../world/things.js';
import { shapeOf, viewOf, type Call, type Reply, type XApi } from './call.js';
import { numberIn, type Range } from './query.js';

interface Listed {
  readonly errors?: readonly JsonObject[];
  readonly meta?: JsonObject;
  /** For the lookup of one: `data` is an object. */
  readonly single?: boolean;
  /** The parameter that errors name. */
  readonly parameter?: string;
}

/** Empty values are left out, never null. */
function bodyOf(
  data: readonly JsonObject[],
  includes: JsonObject | undefined,
  errors: readonly JsonObject[],
  { meta, single }: Listed,
): JsonObject {
  return {
    ...(data.length > 0 && { data: single ? data[0] : data }),
    ...(includes && { includes }),
    ...(errors.length > 0 && { errors }),
    ...(meta && { meta }),
  };
}

export function postsReply(
  api: XApi,
  call: Call,
  posts: readonly Post[],
  listed: Listed = {},
): Reply {
  const [view, shape] = [viewOf(api, call), shapeOf(call, 'post')];
  const { includes, errors } = includesOf(posts, view, shape);
  const { parameter = 'id' } = listed;
  const withheld = posts.flatMap((post) =>
    withheldFields(post, view, shape).map((name) => fieldNotAuthorized(name, parameter, post.id)),
  );
  const data = posts.map((post) => presentPost(post, view, shape));
  const owned = posts.filter(({ authorId }) => authorId === view.viewerId).length;
  return {
    body: bodyOf(data, includes, [...(listed.errors ?? []), ...errors, ...withheld], listed),
    charges: [
      ['owned-read', owned],
      ['post-read', posts.length - owned],
    ],
  };
}

export function usersReply(
  api: XApi,
  call: Call,
  users: readonly User[],
  listed: Listed = {},
): Reply {
  const [view, shape] = [viewOf(api, call), shapeOf(call, 'user')];
  const { includes, errors } = pinnedBy(users, view, shape);
  const data = users.map((user) => presentUser(user, view, shape));
  return {
    body: bodyOf(data, includes, [...(listed.errors ?? []), ...errors], listed),
    charges: [['user-read', users.length]],
  };
}

export const PAGING = ['max_results', 'pagination_token'] as const;

export interface Paged<Item> {
  readonly items: readonly Item[];
  readonly meta: JsonObject;
}

/** The part of a list that a request asks for. */
export function paged<Item extends { readonly id: string }>(
  call: Call,
  all: readonly Item[],
  range: Range,
  { withIds = false, backwards = true } = {},
): Paged<Item> {
  const { query, seat, route } = call;
  const size = numberIn(query, 'max_results', range);
  const scope = `${route} ${call.param('id')}`;
  const parameter = query.has('next_token') ? 'next_token' : 'pagination_token';
  const token = query.get(parameter);
  const place = token === null ? undefined : placeFrom(token, parameter, scope);
  const page = pageOf(all, size, place);
  const here = place ?? { direction: 'next', at: '' };
  const nonce = (place?.nonce ?? 0) + 1;
  // Faults of content: a token that leads back here, or a page that is empty though there is more.
  if (page.next && seat.commit('loop-next'))
    return { items: page.items, meta: metaOf({ ...page, next: here }, scope, withIds, backwards) };
  if (page.items.length > 0 && seat.commit('empty-page')) {
    const empty: Page<Item> = { items: [], next: { ...here, nonce }, previous: undefined };
    return { items: [], meta: metaOf(empty, scope, withIds, backwards) };
  }
  return { items: page.items, meta: metaOf(page, scope, withIds, backwards) };
}

function metaOf<Item extends { readonly id: string }>(
  { items, next, previous }: Page<Item>,
  scope: string,
  withIds: boolean,
  backwards: boolean,
): JsonObject {
  return {
    result_count: items.length,
    ...(withIds && items.length > 0 && { newest_id: items[0]?.id, oldest_id: items.at(-1)?.id }),
    ...(next && { next_token: tokenOf(next, scope) }),
    ...(previous && backwards && { previous_token: tokenOf(previous, scope) }),
  };
}
