import type { JsonObject } from '../../json.js';
import { includesOf, pinnedBy } from '../present/includes.js';
import { presentPost, presentUser, withheldFields } from '../present/records.js';
import { fieldNotAuthorized, invalid } from '../problems.js';
import { compareIds, type Post, type User } from '../world/records.js';
import { shapeOf, viewOf, type Call, type Reply } from './call.js';
import { numberIn, type Range } from './input.js';
import { hash } from '../../random.js';

interface ReplyOptions {
  readonly errors?: readonly JsonObject[];
  readonly meta?: JsonObject;
  /** Whether `data` is an object instead of an array. */
  readonly single?: boolean;
  /** The parameter that errors name. */
  readonly parameter?: string;
}

/** Omits empty members. */
function bodyOf(
  data: readonly JsonObject[],
  includes: JsonObject | undefined,
  errors: readonly JsonObject[],
  { meta, single }: ReplyOptions,
): JsonObject {
  return {
    ...(data.length > 0 && { data: single ? data[0] : data }),
    ...(includes && { includes }),
    ...(errors.length > 0 && { errors }),
    ...(meta && { meta }),
  };
}

export function postsReply(call: Call, posts: readonly Post[], options: ReplyOptions = {}): Reply {
  const [view, shape] = [viewOf(call), shapeOf(call, 'post')];
  const { includes, errors } = includesOf(posts, view, shape);
  const { parameter = 'id' } = options;
  const withheld = posts.flatMap((post) =>
    withheldFields(post, view, shape).map((name) => fieldNotAuthorized(name, parameter, post.id)),
  );
  const data = posts.map((post) => presentPost(post, view, shape));
  const owned = posts.filter(({ authorId }) => authorId === view.viewerId).length;
  return {
    body: bodyOf(data, includes, [...(options.errors ?? []), ...errors, ...withheld], options),
    charges: [
      ['owned-read', owned],
      ['post-read', posts.length - owned],
    ],
  };
}

export function usersReply(call: Call, users: readonly User[], options: ReplyOptions = {}): Reply {
  const [view, shape] = [viewOf(call), shapeOf(call, 'user')];
  const { includes, errors } = pinnedBy(users, view, shape);
  const data = users.map((user) => presentUser(user, view, shape));
  return {
    body: bodyOf(data, includes, [...(options.errors ?? []), ...errors], options),
    charges: [['user-read', users.length]],
  };
}

export const PAGING = ['max_results', 'pagination_token'] as const;

interface PageResult<Item> {
  readonly items: readonly Item[];
  readonly meta: JsonObject;
}

/** The requested page of a list. */
export function paginate<Item extends { readonly id: string }>(
  call: Call,
  all: readonly Item[],
  range: Range,
  { withIds = false, backwards = true } = {},
): PageResult<Item> {
  const { query, exchange, route } = call;
  const size = numberIn(query, 'max_results', range);
  const scope = `${route} ${call.param('id')}`;
  const parameter = query.has('next_token') ? 'next_token' : 'pagination_token';
  const token = query.get(parameter);
  const position = token === null ? undefined : positionFrom(token, parameter, scope);
  const page = pageOf(all, size, position);
  const here = position ?? { direction: 'next', at: '' };
  const nonce = (position?.nonce ?? 0) + 1;
  // Content faults: a token that leads back here, or an empty page before the end.
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

/** A position in a list sorted by descending id. */
interface PagePosition {
  readonly direction: 'next' | 'prev';
  /** After or before this id; empty for the beginning. */
  readonly at: string;
  /** Makes two tokens for the same position differ. */
  readonly nonce?: number;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: PagePosition | undefined;
  readonly previous: PagePosition | undefined;
}

/** An opaque token, valid only for the list that it came from. */
export function tokenOf({ direction, at, nonce = 0 }: PagePosition, scope: string): string {
  const text = `${direction[0] ?? ''}.${at}.${nonce}`;
  return Buffer.from(text).toString('hex') + checksum(text, scope);
}

export function positionFrom(token: string, parameter: string, scope: string): PagePosition {
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

/** A page of a list, and the positions of its neighbours. */
export function pageOf<Item extends { readonly id: string }>(
  all: readonly Item[],
  size: number,
  position: PagePosition | undefined,
): Page<Item> {
  const { direction, at } = position ?? { direction: 'next', at: '' };
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
