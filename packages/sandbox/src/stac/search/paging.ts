import { badParameter } from '../api/http.js';
import type { Scene } from '../catalogue/scene.js';
import type { Traits } from '../flavours.js';
import { isObject } from '../../json.js';

export interface Page {
  readonly scenes: readonly Scene[];
  readonly next?: Cursor;
  readonly previous?: Cursor;
}

/** The page that a cursor points to, and the cursors of its neighbours. */
export function pageOf(
  results: readonly Scene[],
  cursor: Cursor | undefined,
  limit: number,
  traits: Traits,
): Page {
  const from = startOf(results, cursor, limit, traits);
  const until = cursor?.direction === 'prev' ? positionOf(results, cursor, traits) : from + limit;
  const scenes = results.slice(from, until);
  const [first, last] = [scenes[0], scenes.at(-1)];
  const more = traits.endsWithEmptyPage ? scenes.length > 0 : until < results.length;
  const next = traits.pageParameter === 'page' ? pageAfter(cursor) : last && cursorAt('next', last);
  const hasPrevious = traits.previousPage !== undefined && from > 0 && first !== undefined;
  return {
    scenes,
    ...(more && next && { next }),
    ...(hasPrevious && { previous: cursorAt('prev', first) }),
  };
}

function pageAfter(cursor: Cursor | undefined): Cursor {
  return { direction: 'next', page: (cursor?.page ?? 1) + 1 };
}

function startOf(
  results: readonly Scene[],
  cursor: Cursor | undefined,
  limit: number,
  traits: Traits,
): number {
  if (cursor?.page !== undefined) return (cursor.page - 1) * limit;
  if (!cursor?.scene) return 0;
  const position = positionOf(results, cursor, traits);
  return cursor.direction === 'prev' ? Math.max(0, position - limit) : position + 1;
}

function positionOf(results: readonly Scene[], { scene }: Cursor, traits: Traits): number {
  const position = results.findIndex(
    ({ collection, id }) => id === scene?.[1] && collection === scene[0],
  );
  if (position < 0) throw badParameter(traits.pageParameter, 'does not belong to this search');
  return position;
}

/** A position in the results: after or before a scene, at the beginning, or a page number. */
export interface Cursor {
  readonly direction: 'next' | 'prev';
  readonly scene?: readonly [collection: string, id: string];
  readonly page?: number;
  /** Makes two cursors to the same position differ. */
  readonly nonce?: number;
}

function cursorAt(direction: Cursor['direction'], scene: Scene): Cursor {
  return { direction, scene: [scene.collection, scene.id] };
}

interface Codec {
  readonly encode: (cursor: Cursor) => string;
  readonly decode: (text: string) => Cursor | undefined;
}

/** PostgreSQL breaks base64 into lines of 76 characters, which clients must preserve. */
const inLines: Codec = {
  encode: (cursor) => {
    const text = JSON.stringify({ ...cursor, order: 'datetime desc, collection, id' });
    const base64 = Buffer.from(text).toString('base64');
    return `${cursor.direction}:${base64.replaceAll(/.{76}(?=.)/g, '$&\n')}`;
  },
  decode: (text) => fromJson(Buffer.from(text.slice(5), 'base64').toString()),
};

const opaque: Codec = {
  encode: (cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url'),
  decode: (text) => fromJson(Buffer.from(text, 'base64url').toString()),
};

/** Elasticsearch cursors list the sort values. */
const readable: Codec = {
  encode: ({ scene: [collection, id] = ['', ''], nonce }) =>
    [id, collection, ...(nonce === undefined ? [] : [nonce])].join(','),
  decode: (text) => {
    const [id = '', collection, nonce] = text.split(',');
    if (collection === undefined) return undefined;
    return {
      direction: 'next',
      ...(id !== '' && { scene: [collection, id] as const }),
      ...(nonce !== undefined && { nonce: Number(nonce) }),
    };
  },
};

const byPage: Codec = {
  encode: ({ page = 1 }) => String(page),
  decode: (text) =>
    /^[1-9]\d{0,6}$/.test(text) ? { direction: 'next', page: Number(text) } : undefined,
};

function codecOf({ pageParameter, postPaging }: Traits): Codec {
  if (pageParameter === 'page') return byPage;
  if (pageParameter === 'next') return readable;
  return postPaging === 'whole-body' ? inLines : opaque;
}

export function encodeCursor(cursor: Cursor, traits: Traits): string {
  return codecOf(traits).encode(cursor);
}

export function decodeCursor(given: unknown, traits: Traits): Cursor {
  const cursor = typeof given === 'string' ? codecOf(traits).decode(given) : undefined;
  if (!cursor) throw badParameter(traits.pageParameter, 'is not one that this server gave out');
  return cursor;
}

function fromJson(text: string): Cursor | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(parsed)) return undefined;
  const { direction, scene, nonce } = parsed;
  if (direction !== 'next' && direction !== 'prev') return undefined;
  const isScene =
    Array.isArray(scene) && scene.length === 2 && scene.every((it) => typeof it === 'string');
  if (scene !== undefined && !isScene) return undefined;
  return {
    direction,
    ...(isScene && { scene: scene as unknown as readonly [string, string] }),
    ...(typeof nonce === 'number' && { nonce }),
  };
}
