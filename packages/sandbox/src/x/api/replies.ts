import type { JsonObject } from '../../json.js';
import { includesOf, pinnedBy } from '../present/includes.js';
import { presentPost, presentUser, withheldFields } from '../present/records.js';
import { fieldNotAuthorized, invalid } from '../problems.js';
import { compareIds, type Post, type User } from '../world/records.js';
import { shapeOf, viewOf, type Call, type Reply, type XApi } from './call.js';
import { numberIn, type Range } from './input.js';
import { hash } from '../../random.js';

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

interface Paged<Item> {
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
  const { query, exchange, route } = call;
  const size = numberIn(query, 'max_results', range);
  const scope = `${route} ${call.param('id')}`;
  const parameter = query.has('next_token') ? 'next_token' : 'pagination_token';
  const token = query.get(parameter);
  const place = token === null ? undefined : placeFrom(token, parameter, scope);
  const page = pageOf(all, size, place);
  const here = place ?? { direction: 'next', at: '' };
  const nonce = (place?.nonce ?? 0) + 1;
  // Faults of content: a token that leads back here, or a page that is empty though there is more.
  if (page.next && exchange.inject('loop-next'))
    return { items: page.items, meta: metaOf({ ...page, next: here }, scope, withIds, backwards) };
  if (page.items.length > 0 && exchange.inject('empty-page')) {
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

/** A place in a list that is in the order of ids, the greatest first. */
interface Place {
  readonly direction: 'next' | 'prev';
  /** Behind or before this id; at the beginning if it is empty. */
  readonly at: string;
  /** Makes two tokens for the same place differ. */
  readonly nonce?: number;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: Place | undefined;
  readonly previous: Place | undefined;
}

/** Tokens look like letters and digits, and are good for the list that they are from. */
export function tokenOf({ direction, at, nonce = 0 }: Place, scope: string): string {
  const text = `${direction[0] ?? ''}.${at}.${nonce}`;
  return Buffer.from(text).toString('hex') + checksum(text, scope);
}

export function placeFrom(token: string, parameter: string, scope: string): Place {
  const text = Buffer.from(token.slice(0, -8), 'hex').toString();
  const [, direction, at = '', nonce = ''] = /^([np])\.(\d*)\.(\d+)$/.exec(text) ?? [];
  if (direction === undefined || token.slice(-8) !== checksum(text, scope))
    throw invalid(`The \`${parameter}\` query parameter value [${token}] is not valid`, {
      [parameter]: [token],
    });
  return { direction: direction === 'n' ? 'next' : 'prev', at, nonce: Number(nonce) };
}

function checksum(text: string, scope: string): string {
  return hash('page', scope, text).toString(16).padStart(8, '0');
}

/** A part of a list, and where the parts before and behind it are. */
export function pageOf<Item extends { readonly id: string }>(
  all: readonly Item[],
  size: number,
  place: Place | undefined,
): Page<Item> {
  const { direction, at } = place ?? { direction: 'next', at: '' };
  const behind = (item: Item): boolean => at === '' || compareIds(item.id, at) < 0;
  const before = (item: Item): boolean => at !== '' && compareIds(item.id, at) > 0;
  const items =
    direction === 'next' ? all.filter(behind).slice(0, size) : all.filter(before).slice(-size);
  const [first, last] = [items[0], items.at(-1)];
  const more = last && all.some((item) => compareIds(item.id, last.id) < 0);
  const earlier = first && all.some((item) => compareIds(item.id, first.id) > 0);
  return {
    items,
    next: more ? { direction: 'next', at: last.id } : undefined,
    previous: earlier ? { direction: 'prev', at: first.id } : undefined,
  };
}
