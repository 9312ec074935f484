import type { JsonObject } from '../../json.js';
import { includesOf } from '../present/includes.js';
import { presentPost, presentUser } from '../present/records.js';
import { invalid } from '../problems.js';
import { compareIds, type Post, type User } from '../world/records.js';
import { viewOf, type Call, type Reply } from './call.js';
import { shapeFrom } from '../present/shape.js';
import { numberIn, type Range } from './input.js';
import { hash } from '../../random.js';

interface ReplyOptions {
  readonly errors?: readonly JsonObject[];
  readonly meta?: JsonObject;
  /** Whether `data` is an object instead of an array. */
  readonly single?: boolean;
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
  const [view, shape] = [viewOf(call), shapeFrom(call.query)];
  const { includes, errors } = includesOf(posts, view, shape);
  const data = posts.map((post) => presentPost(post, view, shape));
  const owned = posts.filter(({ authorId }) => authorId === view.viewerId).length;
  return {
    body: bodyOf(data, includes, [...(options.errors ?? []), ...errors], options),
    charges: [
      ['owned-read', owned],
      ['post-read', posts.length - owned],
    ],
  };
}

export function usersReply(call: Call, users: readonly User[], options: ReplyOptions = {}): Reply {
  const [view, shape] = [viewOf(call), shapeFrom(call.query)];
  const data = users.map((user) => presentUser(user, view, shape));
  return {
    body: bodyOf(data, undefined, options.errors ?? [], options),
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
  withIds = false,
): PageResult<Item> {
  const { query, exchange, route } = call;
  const size = numberIn(query, 'max_results', range);
  const scope = `${route} ${call.param('id')}`;
  const parameter = query.has('next_token') ? 'next_token' : 'pagination_token';
  const token = query.get(parameter);
  const here = token === null ? { at: '' } : positionFrom(token, parameter, scope);
  const page = pageOf(all, size, here);
  // Content faults: a token that leads back here, or an empty page before the end.
  if (page.next && exchange.inject('loop-next')) page.next = here;
  if (page.items.length > 0 && exchange.inject('empty-page')) {
    page.items = [];
    page.next = { ...here, nonce: (here.nonce ?? 0) + 1 };
  }
  const { items, next } = page;
  const meta = {
    result_count: items.length,
    ...(withIds && items.length > 0 && { newest_id: items[0]?.id, oldest_id: items.at(-1)?.id }),
    ...(next && { next_token: tokenOf(next, scope) }),
  };
  return { items, meta };
}

/** A position in a list sorted by descending id. */
interface PagePosition {
  /** After this id; empty for the beginning. */
  readonly at: string;
  /** Makes two tokens for the same position differ. */
  readonly nonce?: number;
}

interface Page<Item> {
  items: readonly Item[];
  next: PagePosition | undefined;
}

/** An opaque token, valid only for the list that it came from. */
export function tokenOf({ at, nonce = 0 }: PagePosition, scope: string): string {
  const text = `n.${at}.${nonce}`;
  return Buffer.from(text).toString('hex') + checksum(text, scope);
}

export function positionFrom(token: string, parameter: string, scope: string): PagePosition {
  const text = Buffer.from(token.slice(0, -8), 'hex').toString();
  const [, at, nonce] = /^n\.(\d*)\.(\d+)$/.exec(text) ?? [];
  if (at === undefined || token.slice(-8) !== checksum(text, scope))
    throw invalid(`The \`${parameter}\` query parameter value [${token}] is not valid`, {
      [parameter]: [token],
    });
  return { at, nonce: Number(nonce) };
}

function checksum(text: string, scope: string): string {
  return hash('page', scope, text).toString(16).padStart(8, '0');
}

/** A page of a list, and the position of the next one. */
export function pageOf<Item extends { readonly id: string }>(
  all: readonly Item[],
  size: number,
  { at }: PagePosition,
): Page<Item> {
  const rest = at === '' ? all : all.filter(({ id }) => compareIds(id, at) < 0);
  const items = rest.slice(0, size);
  const last = items.at(-1);
  return { items, next: last && rest.length > size ? { at: last.id } : undefined };
}
